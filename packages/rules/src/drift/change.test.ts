import { inOneGo, portableCrypto } from "@flyball/evidence"
import { generator } from "@flyball/statistics"
import { assert, describe, it } from "vitest"
import { type ChangeAnswer, changeOf, type ChangeQuestion } from "./change.ts"
import { type DriftDecision, driftDecision } from "./decision.ts"

const hashOf = (seq: number): string => seq.toString(16).padStart(64, "0")

/** Decisions of runs, each a list of actions; in order, with seqs of their own. */
const chain = (runs: ReadonlyArray<ReadonlyArray<string>>, more: Partial<DriftDecision> = {}) =>
  runs
    .flatMap((actions, run) => actions.map((action) => ({ run: `run-${run}`, action })))
    .map(({ action, run }, at): DriftDecision => ({
      ...driftDecision({ seq: 10 + 2 * at, hash: hashOf(at), body: { action, kind: "tool_call", status: "ok" } }, null),
      run,
      ...more
    }))

const ask = (decisions: ReadonlyArray<DriftDecision>, more: Partial<ChangeQuestion> = {}): ChangeAnswer =>
  inOneGo(
    changeOf(
      {
        agentId: "agt_x",
        lookback: 200,
        window: 100,
        decisions,
        asOfSeq: 1_000,
        annotations: [],
        ...more
      },
      portableCrypto.sha256
    )
  )

const dimension = (answer: ChangeAnswer, name: string) => answer.dimensions.find((one) => one.name === name)!

const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 7))
const runOf = (tools: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: 5 }, () => tools[random.below(tools.length)]!)
const usual = Array.from({ length: 20 }, () => runOf(["search", "read", "write"]))
const other = Array.from({ length: 20 }, () => runOf(["search", "read", "delete"]))
const another = Array.from({ length: 20 }, () => runOf(["search", "read", "write"]))

describe("a change of behaviour", () => {
  const changed = ask(chain([...usual, ...other]))

  it("is found, with its size, the records that show it, and what is new", () => {
    assert.strictEqual(changed.status, "ok")
    assert.strictEqual(changed.verdict, "changed")
    assert.strictEqual(changed.unit, "run")
    const { effect, material, p_adjusted: p } = dimension(changed, "action")
    assert.isAtMost(p!, 0.002)
    assert.isTrue(material)
    assert.include([["write"], ["delete"]].map(String), String(effect!.component))
    assert.isAbove(Math.abs(effect!.difference!), 0.3)
    assert.deepStrictEqual(
      changed.novel.map((one) => [one.dimension, one.value]),
      [["action", "delete"]]
    )
    assert.deepStrictEqual(
      changed.vanished.map((one) => one.value),
      ["write"]
    )
    assert.strictEqual(changed.novel[0]!.record_hash, `sha256:${hashOf((changed.novel[0]!.first_seq - 10) / 2)}`)
  })

  it("is not found where there is none", () => {
    const { dimensions, verdict } = ask(chain([...usual, ...another]))
    assert.strictEqual(verdict, "no_change_detected")
    for (const { changed: is } of dimensions) assert.isNotTrue(is)
  })

  it("says what distances are where nothing changed", () => {
    const {
      js,
      js_null_mean: mean,
      js_null_q95: q95,
      psi,
      psi_null_q95: psi95
    } = dimension(changed, "action").distances!
    assert.isAbove(js, q95)
    assert.isAbove(q95, mean)
    assert.isAbove(psi, psi95)
  })

  it("is the same for everybody, and its seed follows from the chain alone", () => {
    const decisions = chain([...usual, ...other])
    assert.deepStrictEqual(ask(decisions), changed)
    const seedOf = (answer: ChangeAnswer) => answer.verification.seed
    const newest = decisions.length - 1
    const later = decisions.map((one, at) => (at === newest ? { ...one, hash: hashOf(999) } : one))
    assert.notStrictEqual(seedOf(ask(later)), seedOf(changed))
    assert.notStrictEqual(seedOf(ask(decisions, { agentId: "agt_y" })), seedOf(changed))
    assert.notStrictEqual(seedOf(ask(decisions, { lookback: 199, window: 99 })), seedOf(changed))
  })

  it("is the same whatever actions are called", () => {
    const called = (names: ReadonlyArray<ReadonlyArray<string>>) =>
      names.map((run) => run.map((action) => ({ search: "z", read: "a", write: "k", delete: "b" })[action]!))
    const renamed = ask(chain(called([...usual, ...other])))
    for (const [at, one] of renamed.dimensions.entries()) {
      assert.strictEqual(one.p_adjusted, changed.dimensions[at]!.p_adjusted)
      assert.deepStrictEqual(one.distances, changed.dimensions[at]!.distances)
    }
  })

  it("is as large whatever the order of runs within a window, and of decisions within a run", () => {
    const sized = ({ dimensions }: ChangeAnswer) =>
      dimensions
        .filter(({ name }) => name !== "sequence")
        .map(({ distances, effect, name }) => [
          name,
          effect === null ? null : [effect.metric, effect.baseline, effect.current],
          distances?.js
        ])
    const turned = [...usual.toReversed(), ...other.toReversed()].map((run) => run.toReversed())
    assert.deepStrictEqual(sized(ask(chain(turned))), sized(changed))
  })

  it("names the records that may explain it, and where the model changed", () => {
    const half = chain([...usual, ...other]).map((one, at) => ({ ...one, model: at < 100 ? "m-1" : "m-2" }))
    const { annotations } = ask(half, { annotations: [{ seq: 15, kind: "envelope.published" }] })
    assert.deepStrictEqual(annotations, [
      { seq: 15, kind: "envelope.published" },
      { seq: half[100]!.seq, kind: "model_changed" }
    ])
  })

  it("is found in numbers, by ranks, so that one large number changes nothing", () => {
    const timed = (ms: (at: number) => number | null) =>
      chain([...usual, ...another]).map((one, at) => ({ ...one, latencyMs: ms(at) }))
    const slower = dimension(ask(timed((at) => (at < 100 ? 10 : 30) + (at % 7))), "latency_ms")
    assert.isTrue(slower.changed)
    assert.strictEqual(slower.effect!.metric, "run_median")
    assert.closeTo(slower.effect!.difference!, 20, 2)
    const once = dimension(ask(timed((at) => (at === 150 ? 1e9 : 10 + (at % 7)))), "latency_ms")
    assert.isFalse(once.changed)
    const silent = dimension(ask(timed((at) => (at < 100 ? 10 + (at % 7) : null))), "latency_ms")
    assert.isTrue(silent.changed)
    assert.strictEqual(silent.effect!.metric, "missing_share")
  })
})

describe("too little to test", () => {
  it("is too few decisions, and says how many are missing", () => {
    const few = ask(chain(usual))
    assert.strictEqual(few.status, "insufficient_data")
    assert.deepStrictEqual(few.missing, { decisions: 100, runs: null })
    assert.deepStrictEqual(ask([]).verification, { seed: null, newest_seq: null, newest_record_hash: null })
  })

  it("is one run, and too few runs for any p-value", () => {
    const one = ask(chain([usual.flat().concat(other.flat())]))
    assert.deepStrictEqual([one.status, one.missing], ["insufficient_data", { decisions: 0, runs: 1 }])
    const three = [usual, usual, usual, other, other, other].map((runs, at) => runs.flat().slice(0, 30 + at))
    const six = ask(chain(three), { lookback: 180, window: 90 })
    assert.deepStrictEqual([six.status, six.verdict], ["underpowered", null])
    assert.deepStrictEqual(six.missing, { decisions: 0, runs: 2 })
    assert.strictEqual(six.min_attainable_p, 0.1)
  })

  it("is nothing that differs, and values that are no numbers", () => {
    const same = chain(Array.from({ length: 40 }, () => ["a", "b", "a", "b", "a"]))
    const { dimensions, verdict } = ask(same)
    assert.strictEqual(verdict, "no_change_detected")
    for (const { name, p, status } of dimensions) {
      assert.isNull(p, name)
      assert.strictEqual(status, /latency|cost|tokens/.test(name) ? "no_values" : "constant", name)
    }
    const body = { action: "a", kind: "other", status: "ok", latency_ms: Number.NaN, usage: { input_tokens: -1 } }
    const { latencyMs, tokens } = driftDecision({ seq: 1, hash: hashOf(1), body }, null)
    assert.deepStrictEqual([latencyMs, tokens], [null, null])
  })

  it("takes decisions to be independent where none names a run, and says so", () => {
    const { unit } = ask(chain([...usual, ...other], { run: null }))
    assert.strictEqual(unit, "decision_assumed")
  })
})

describe("a decision", () => {
  const body = { action: "a", kind: "tool_call", status: "intended", run_id: "r", usage: { input_tokens: 3 } }

  it("has the outcome of its settlement, and what only its witness said", () => {
    const settled = { status: "error", latency_ms: 7, usage: { output_tokens: 2 } }
    const one = driftDecision({ seq: 1, hash: hashOf(1), body }, settled)
    assert.deepStrictEqual([one.outcome, one.latencyMs, one.tokens], ["error", 7, 5])
    assert.strictEqual(driftDecision({ seq: 1, hash: hashOf(1), body }, null).outcome, "intended")
  })
})
