import { codeOf, refusals } from "@flyball/contract"
import { decisions, refusalsOf } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import { makeCaller } from "../http/caller.ts"
import type { Problem } from "../problem.ts"
import { manualClock, settled } from "../testing/manual-clock.ts"
import { type SentRequest, type Scripted, scriptedFetch } from "../testing/scripted-server.ts"
import type { Entry, UnreportedGap } from "./entry.ts"
import { DecisionRefused, startRecorder } from "./recorder.ts"
import { memorySpool, type SpoolBounds } from "./spool.ts"

const entry = (ref: string, agentId = "agt_1"): Entry => ({
  kind: "decision",
  agentId,
  decision: { client_ref: ref, action: "act" }
})
const receipts = ({ json }: SentRequest): Scripted => ({
  status: 201,
  json: {
    receipts: json.decisions.map((one: { client_ref: string }) => ({ client_ref: one.client_ref, duplicate: false }))
  }
})
const gapsOf = (seen: ReadonlyArray<SentRequest>): ReadonlyArray<readonly [number, string]> =>
  seen.flatMap(({ json, path }) => (path.endsWith("/capture-gaps") ? [[json.count, json.reason] as const] : []))
const recorded: Scripted = { status: 201, json: { agent_id: "agt_1", seq: 9, record_hash: "h" } }
const refsOf = (sent: SentRequest): ReadonlyArray<string> =>
  sent.json.decisions.map((one: { client_ref: string }) => one.client_ref)

const world = (script: (sent: SentRequest) => Scripted, bounds?: SpoolBounds) => {
  const clock = manualClock()
  const { fetch, seen } = scriptedFetch(script)
  const problems: Array<Problem> = []
  const spool = memorySpool(bounds)
  const recorder = startRecorder({
    caller: makeCaller({ url: "http://flyball.test/", key: "k", fetch, clock }),
    spool,
    clock,
    timeoutMs: 2_000,
    onProblem: (problem) => void problems.push(problem)
  })
  return { clock, seen, problems, spool, recorder }
}

describe("the recorder", () => {
  it("ends a decision whose receipt nobody waited for by sending it once more, until the server is there", async () => {
    let isAway = false
    const { clock, recorder, seen } = world((sent) => {
      if (isAway) return "cut"
      if (sent.path.endsWith("/settle")) return { status: 201, json: { duplicate: false } }
      return {
        status: 201,
        json: { receipts: [{ client_ref: "a", decision_id: "dec_a", duplicate: true }] }
      }
    })
    const { agentId, decision } = entry("a") as Extract<Entry, { kind: "decision" }>
    await recorder.keep({ kind: "decision", agentId, decision })
    await clock.advance(250)
    isAway = true
    await recorder.keep({ kind: "outcome", agentId, decision, settlement: { status: "ok" } })
    await clock.advance(250)
    assert.strictEqual(recorder.pending(), 1)
    isAway = false
    const flushing = recorder.flush(5_000)
    await clock.advance(5_000)
    assert.deepInclude(await flushing, { accepted: 1, rejected: 0, pending: 0 })
    assert.deepStrictEqual(seen.at(-1)!.path, "/api/v1/decisions/dec_a/settle")
    assert.deepStrictEqual(seen.at(-1)!.json, { status: "ok" })
  })

  it("counts a refused decision once where the gap cannot be written, and goes on to the next one", async () => {
    let isFull = true
    const { clock, problems, recorder, seen, spool } = world((sent) => {
      if (sent.path.endsWith("/capture-gaps")) return isFull ? "cut" : recorded
      return refsOf(sent).includes("bad") ? { status: 422, json: { detail: [] } } : receipts(sent)
    })
    const write = spool.setGaps
    Object.assign(spool, {
      setGaps: async (gaps: ReadonlyArray<UnreportedGap>) => {
        await write(gaps)
        if (isFull) throw new Error("ENOSPC")
      }
    })
    await recorder.keep(entry("bad"))
    await recorder.keep(entry("good"))
    await clock.advance(20_000)
    assert.strictEqual(recorder.pending(), 0)
    assert.deepInclude(problems, { kind: "spool", reason: "Error: ENOSPC" })
    isFull = false
    await clock.advance(60_000)
    assert.deepStrictEqual(gapsOf(seen).at(-1), [1, "refused"])
  })

  it("gathers decisions for a quarter of a second and sends them in order, one agent a request", async () => {
    const { clock, recorder, seen } = world(receipts)
    for (const [ref, agentId] of [
      ["a", "agt_1"],
      ["b", "agt_1"],
      ["c", "agt_2"],
      ["d", "agt_1"]
    ] as const)
      await recorder.keep(entry(ref, agentId))
    await clock.advance(249)
    assert.lengthOf(seen, 0)
    await clock.advance(1)
    assert.deepStrictEqual(
      seen.map((sent) => [sent.path, refsOf(sent)]),
      [
        ["/api/v1/agents/agt_1/decisions", ["a", "b"]],
        ["/api/v1/agents/agt_2/decisions", ["c"]],
        ["/api/v1/agents/agt_1/decisions", ["d"]]
      ]
    )
    assert.strictEqual(recorder.pending(), 0)
  })

  it("keeps entries while the server is away, retries with growing pauses, and sends them afterwards", async () => {
    let isAway = true
    const { clock, problems, recorder, seen } = world((sent) => (isAway ? "cut" : receipts(sent)))
    for (const ref of ["a", "b", "c"]) await recorder.keep(entry(ref))
    await clock.advance(3_600_000)
    assert.isBelow(seen.length, 150)
    assert.isAbove(seen.length, 60)
    assert.strictEqual(recorder.pending(), 3)
    assert.deepInclude(problems.at(-1)!, { kind: "capture", pending: 3 })
    isAway = false
    await clock.advance(61_000)
    assert.deepStrictEqual(refsOf(seen.at(-1)!), ["a", "b", "c"])
    assert.strictEqual(recorder.pending(), 0)
  })

  it("reports a gap for decisions that had no room, when the server is back", async () => {
    let isAway = true
    const gaps: Array<unknown> = []
    const script = (sent: SentRequest): Scripted => {
      if (isAway) return { status: 503 }
      if (!sent.path.endsWith("/capture-gaps")) return receipts(sent)
      gaps.push(sent.json)
      return recorded
    }
    const { clock, problems, recorder } = world(script, { maxBytes: 1e6, maxEntries: 2 })
    const kept = []
    for (const ref of ["a", "b", "c", "d"]) kept.push(await recorder.keep(entry(ref)))
    assert.deepStrictEqual(kept, [true, true, false, false])
    assert.lengthOf(
      problems.filter(({ kind }) => kind === "lost"),
      2
    )
    await clock.advance(10_000)
    isAway = false
    await clock.advance(61_000)
    const at = "1970-01-01T00:16:40.000Z"
    assert.deepStrictEqual(gaps, [{ from: at, to: at, count: 2, reason: "spool_full" }])
    assert.strictEqual(recorder.pending(), 0)
  })

  it("does not retry more often while the spool is full and decisions keep coming", async () => {
    const { clock, recorder, seen } = world(() => "cut", { maxBytes: 1e6, maxEntries: 300 })
    for (let at = 0; at < 3_600; at++) {
      await recorder.keep(entry(`r${at}`))
      await clock.advance(1_000)
    }
    assert.isBelow(seen.length, 150)
    assert.strictEqual(recorder.pending(), 300)
  })

  it("counts each loss once: losses during the report of a gap are in the next gap", async () => {
    let answering = (_: SentRequest): Scripted => ({ status: 503 })
    const gaps: Array<{ readonly count: number; readonly from: string; readonly to: string }> = []
    const { clock, recorder, spool } = world((sent) => answering(sent), { maxBytes: 1e6, maxEntries: 1 })
    for (const ref of ["kept", "lost", "lost too"]) await recorder.keep(entry(ref))
    answering = (sent) => {
      if (!sent.path.endsWith("/capture-gaps")) return receipts(sent)
      // While the first gap is on its way there is a third loss.
      if (gaps.length === 0) void spool.add(entry("in the way")).then(() => recorder.keep(entry("lost meanwhile")))
      gaps.push(sent.json)
      return recorded
    }
    await clock.advance(120_000)
    assert.deepStrictEqual(
      gaps.map(({ count }) => count),
      [2, 1]
    )
    assert.strictEqual(gaps[1]!.from, gaps[0]!.to)
    assert.deepStrictEqual(spool.gaps(), [])
  })

  it("counts losses that come at once, on a spool that takes its time to write them", async () => {
    const slow = memorySpool({ maxBytes: 1e6, maxEntries: 0 })
    const clock = manualClock()
    const { fetch } = scriptedFetch(() => "cut")
    const recorder = startRecorder({
      caller: makeCaller({ url: "http://flyball.test/", key: "k", fetch, clock }),
      spool: { ...slow, setGaps: (next) => settled().then(() => slow.setGaps(next)) },
      clock,
      timeoutMs: 2_000,
      onProblem: () => undefined
    })
    await Promise.all(Array.from({ length: 50 }, (_, at) => recorder.keep(entry(`r${at}`))))
    assert.deepStrictEqual(
      slow.gaps().map(({ count }) => count),
      [50]
    )
  })

  it("drops only entries that are refused permanently, and reports them", async () => {
    const { clock, problems, recorder, seen } = world((sent) =>
      sent.path.endsWith("/capture-gaps")
        ? recorded
        : refsOf(sent).includes("bad")
          ? { status: 422, json: { detail: [] } }
          : receipts(sent)
    )
    for (const ref of ["a", "b", "bad", "c", "d", "e"]) await recorder.keep(entry(ref))
    const flushing = recorder.flush(1_000)
    await clock.advance(1_000)
    assert.deepStrictEqual(await flushing, { accepted: 5, duplicates: 0, rejected: 1, pending: 0 })
    assert.deepStrictEqual(problems, [{ kind: "rejected", status: 422, clientRef: "bad", answer: { detail: [] } }])
    assert.deepStrictEqual(gapsOf(seen), [[1, "refused"]])
  })

  it("does not wait for a claim that its key may not make: the decision is recorded without it", async () => {
    const { clock, problems, recorder, seen } = world(({ json, ...sent }) =>
      json.decisions.some(({ capture }: { capture?: string }) => capture === "mediated")
        ? { status: 403, json: { code: "capture_not_mediated" } }
        : receipts({ json, ...sent })
    )
    const { agentId, decision } = entry("claims") as Extract<Entry, { kind: "decision" }>
    await recorder.keep(entry("a"))
    await recorder.keep({ kind: "decision", agentId, decision: { ...decision, capture: "mediated" } })
    await recorder.keep(entry("b"))
    const flushing = recorder.flush(1_000)
    await clock.advance(1_000)
    assert.deepStrictEqual(await flushing, { accepted: 3, duplicates: 0, rejected: 0, pending: 0 })
    assert.deepInclude(problems[0]!, { kind: "reduced", clientRef: "claims" })
    const kept = seen.flatMap(({ json }) => json.decisions).find(({ labels }) => labels !== undefined)
    assert.deepInclude(kept, { capture: "self_reported", labels: { refused: "capture_not_mediated" } })
  })

  for (const name of new Set([...refusalsOf(decisions.witness), ...refusalsOf(decisions.settle)])) {
    const { status } = refusals[name]
    for (const takesLess of [true, false])
      it(`leaves a record or a gap after ${name}, where less is ${takesLess ? "taken" : "refused too"}`, async () => {
        const refusal: Scripted = {
          status,
          json: name === "InvalidInput" ? { detail: [] } : { code: codeOf(name), detail: "no" }
        }
        const { clock, recorder, seen, spool } = world((sent) => {
          if (sent.path.endsWith("/capture-gaps")) return recorded
          const [decision] = sent.json.decisions ?? [sent.json]
          const isLess = decision.args === undefined && decision.result === undefined
          if (!(takesLess && isLess)) return refusal
          return sent.path.endsWith("/settle") ? { status: 201, json: { duplicate: false } } : receipts(sent)
        })
        const { agentId, decision } = entry("a") as Extract<Entry, { kind: "decision" }>
        await recorder.keep({ kind: "decision", agentId, decision: { ...decision, args: { a: 1 } } })
        const settlement = { status: "ok", result: { b: 2 } } as const
        await recorder.keep({ kind: "settle", agentId, decisionId: "dec_1", clientRef: "b", settlement })
        const flushing = recorder.flush(2_000)
        await clock.advance(2_000)
        const flushed = await flushing
        const owed = spool.gaps().reduce((sum, { count }) => sum + count, 0)
        const reported = gapsOf(seen).reduce((sum, [count]) => sum + count, 0)
        assert.strictEqual(flushed.accepted + flushed.pending + owed + reported, 2, JSON.stringify(flushed))
      })
  }

  for (const [what, other] of [
    ["an empty answer", { status: 200 }],
    ["an answer of success that holds no receipts", { status: 201, json: { ok: true } }],
    [
      "receipts of something else",
      { status: 201, json: { receipts: [{ client_ref: "b", decision_id: "dec_1", duplicate: false }] } }
    ],
    ["a page that says 404", { status: 404, text: "<h1>Not found</h1>" }],
    ["another service that says 404", { status: 404, json: { message: "no route" } }],
    ["a proxy that says 400", { status: 400, text: "Bad Request" }],
    ["a redirect", { status: 302, headers: { location: "https://sign-in.example/" } }]
  ] as const)
    it(`keeps what waits after ${what}, which says nothing about it`, async () => {
      let isOther = true
      const { clock, problems, recorder } = world((sent) => (isOther ? other : receipts(sent)))
      await recorder.keep(entry("a"))
      const flushing = recorder.flush(1_000)
      await clock.advance(1_000)
      assert.deepStrictEqual(await flushing, { accepted: 0, duplicates: 0, rejected: 0, pending: 1 })
      assert.deepStrictEqual([...new Set(problems.map(({ kind }) => kind))], ["capture"])
      isOther = false
      await clock.advance(61_000)
      assert.strictEqual(recorder.pending(), 0)
    })

  for (const [what, maxEntries] of [
    ["a settlement", 1],
    ["a gap", 0]
  ] as const)
    it(`keeps ${what} that something else answered`, async () => {
      let isOther = true
      const { clock, recorder, spool } = world(
        (sent) => {
          if (isOther) return { status: 200, text: "<h1>Welcome</h1>" }
          return sent.path.endsWith("/settle") ? { status: 201, json: { duplicate: false } } : recorded
        },
        { maxBytes: 1e6, maxEntries }
      )
      const settlement = { status: "ok" } as const
      await recorder.keep({ kind: "settle", agentId: "agt_1", decisionId: "dec_1", clientRef: "a", settlement })
      await clock.advance(60_000)
      assert.strictEqual(recorder.pending() + spool.gaps().length, 1)
      isOther = false
      await clock.advance(61_000)
      assert.strictEqual(recorder.pending() + spool.gaps().length, 0)
    })

  it("drops entries of an agent that the server does not know, at once", async () => {
    const { clock, problems, recorder, seen, spool } = world((sent) =>
      sent.path.includes("agt_gone") ? { status: 404, json: { code: "agent_not_found", detail: "" } } : receipts(sent)
    )
    for (let at = 0; at < 150; at++) await recorder.keep(entry(`r${at}`, "agt_gone"))
    await recorder.keep(entry("b"))
    const flushing = recorder.flush(1_000)
    await clock.advance(1_000)
    assert.deepStrictEqual(await flushing, { accepted: 1, duplicates: 0, rejected: 150, pending: 0 })
    assert.lengthOf(problems, 150)
    assert.lengthOf(seen, 2)
    // The server takes no report of it yet.
    assert.deepInclude(spool.gaps()[0]!, { agentId: "agt_gone", count: 150, reason: "refused" })
  })

  it("sends about one request per entry when everything is refused, and one gap", async () => {
    const { clock, recorder, seen } = world((sent) =>
      sent.path.endsWith("/capture-gaps") ? recorded : { status: 422, json: { detail: [] } }
    )
    for (let at = 0; at < 400; at++) await recorder.keep(entry(`r${at}`))
    for (let turn = 0; turn < 50; turn++) await clock.advance(100)
    assert.strictEqual(recorder.pending(), 0)
    assert.isBelow(seen.length, 425)
    assert.deepStrictEqual(gapsOf(seen), [[400, "refused"]])
  })

  it("sends smaller batches after a time-out, and larger ones again after a success", async () => {
    const sizes: Array<number> = []
    const { clock, recorder } = world((sent) => {
      sizes.push(refsOf(sent).length)
      return refsOf(sent).length > 30 ? "hang" : receipts(sent)
    })
    for (let at = 0; at < 200; at++) await recorder.keep(entry(`r${at}`))
    await clock.advance(120_000)
    assert.strictEqual(recorder.pending(), 0)
    assert.deepStrictEqual(sizes.slice(0, 5), [200, 100, 50, 25, 50])
  })

  it("sends about a megabyte at once, or one entry that is larger", async () => {
    const sizes: Array<number> = []
    const { clock, recorder } = world((sent) => {
      sizes.push(refsOf(sent).length)
      return receipts(sent)
    })
    for (const [ref, chars] of [
      ["a", 400_000],
      ["b", 400_000],
      ["c", 400_000],
      ["d", 2_000_000],
      ["e", 10]
    ] as const)
      await recorder.keep({
        kind: "decision",
        agentId: "agt_1",
        decision: { client_ref: ref, action: "act", args: "x".repeat(chars) }
      })
    await clock.advance(1_000)
    assert.deepStrictEqual(sizes, [2, 1, 1, 1])
  })

  it("keeps entries while its key is refused, because a key can be replaced", async () => {
    let status = 401
    const { clock, recorder } = world((sent) => (status === 401 ? { status } : receipts(sent)))
    await recorder.keep(entry("a"))
    await clock.advance(5_000)
    assert.strictEqual(recorder.pending(), 1)
    status = 201
    await clock.advance(61_000)
    assert.strictEqual(recorder.pending(), 0)
  })

  it("reports a flush exactly: entries that arrived meanwhile, and those pending at the time-out", async () => {
    const { clock, recorder } = world((sent) => (sent.path.includes("agt_away") ? "hang" : receipts(sent)))
    await recorder.keep(entry("a"))
    const flushing = recorder.flush(5_000)
    await recorder.keep(entry("b"))
    await clock.advance(1_000)
    assert.deepStrictEqual(await flushing, { accepted: 2, duplicates: 0, rejected: 0, pending: 0 })
    await recorder.keep(entry("c", "agt_away"))
    const failing = recorder.flush(5_000)
    await clock.advance(6_000)
    assert.deepStrictEqual(await failing, { accepted: 0, duplicates: 0, rejected: 0, pending: 1 })
  })

  it("waits as long as Retry-After says, also in a flush", async () => {
    let sent = 0
    const { clock, recorder } = world(() => (sent++, { status: 429, headers: { "retry-after": "30" } }))
    await recorder.keep(entry("a"))
    await clock.advance(20_000)
    const flushing = recorder.flush(5_000)
    await clock.advance(5_000)
    assert.deepInclude(await flushing, { accepted: 0, pending: 1 })
    await clock.advance(5_000)
    assert.strictEqual(sent, 1)
    await clock.advance(1_000)
    assert.strictEqual(sent, 2)
  })

  it("sends at once where a receipt is needed: null while the server is away, an error where it refuses", async () => {
    let script: Scripted = "cut"
    const { recorder } = world((sent) =>
      typeof script === "string" ? script : script.status === 201 ? receipts(sent) : script
    )
    const { decision } = entry("a") as Extract<Entry, { kind: "decision" }>
    assert.isNull(await recorder.sendNow("agt_1", decision))
    script = { status: 201 }
    assert.strictEqual((await recorder.sendNow("agt_1", decision))?.client_ref, "a")
    script = { status: 409, json: { code: "client_ref_reused" } }
    await recorder.sendNow("agt_1", decision).then(
      () => assert.fail("it was taken"),
      (cause) => {
        assert.instanceOf(cause, DecisionRefused)
        assert.strictEqual(cause.status, 409)
      }
    )
  })

  it("leaves waiting entries in the spool when it is closed", async () => {
    const { clock, recorder, seen, spool } = world(() => "hang")
    await recorder.keep(entry("a"))
    await clock.advance(300)
    assert.lengthOf(seen, 1)
    await recorder.close()
    await settled()
    assert.strictEqual(spool.size(), 1)
    await clock.advance(600_000)
    assert.lengthOf(seen, 1)
  })
})
