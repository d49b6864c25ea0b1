import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answer, type Answers, inPlaceLimits, type Questions } from "@flyball/core/examination"
import { type EnvelopeSource, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { assert, describe, it } from "vitest"
import { dataFolder } from "../data-folder.ts"
import { type Answered, ExaminerThread } from "./examiner-thread.ts"

/** Rules that overlap at random over integers: the worst there is for the analysis. */
const dense = (count: number, integers = 8): EnvelopeSource => {
  let state = 7
  const below = (end: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 12)) >>> 0) % end
  }
  const names = Array.from({ length: integers }, (_, place) => `n${place}`)
  return {
    semantics: "envelope/1",
    signals: Object.fromEntries(names.map((name) => [name, { type: "int", min: 0, max: 10_000, source: "caller" }])),
    effects: { "*": "read" },
    rules: Array.from({ length: count }, (_, rule) => {
      const first = below(integers)
      return {
        id: `r${rule}`,
        outcome: ["allow", "allow_with_notice", "deny"][below(3)],
        when: [first, (first + 1 + below(integers - 1)) % integers].map((name) => {
          const from = below(9_000)
          return { signal: names[name], between: [from, from + 500 + below(500)] }
        })
      }
    }),
    default: { outcome: "deny" }
  } as unknown as EnvelopeSource
}
const about = (json: unknown): Questions["lint"] => ({
  json,
  surroundings: {
    outer: [],
    inner: [],
    safety: { withoutBreaker: 0, withoutDrill: 0 },
    blastRadii: [],
    grantable: "any",
    toolsSeen: []
  },
  history: { events: [], declared: [], fromSeq: 0, toSeq: 0, fromGenesis: true },
  acknowledged: []
})
const ask = (thread: ExaminerThread, json: unknown): Promise<Answered<"lint">> =>
  new Promise((resolve) => void thread.ask("lint", about(json), resolve))
/** Sixty runs of an agent, whose second half also deletes. */
const changed: Questions["change"] = {
  agentId: "a1",
  lookback: 600,
  window: 300,
  asOfSeq: 600,
  annotations: [],
  decisions: Array.from({ length: 600 }, (_, seq) => ({
    seq,
    hash: String(seq).padStart(64, "0"),
    run: `run-${Math.floor(seq / 10)}`,
    action: seq >= 300 && seq % 5 === 0 ? "delete" : "read",
    toolServer: null,
    kind: "tool_call",
    model: null,
    outcome: "ok",
    latencyMs: 10 + (seq % 7),
    costMicroUsd: null,
    tokens: null
  }))
}
const lintOf = (answered: Answered<"lint">): Answers["lint"] => {
  if (!answered.ok) throw new Error(answered.reason)
  return answered.answer
}
const withThread = async (body: (thread: ExaminerThread) => Promise<void>): Promise<void> => {
  const thread = new ExaminerThread()
  try {
    await body(thread)
  } finally {
    await thread.close()
  }
}
const withGovernor = async (body: (governor: Governor) => Promise<void>): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "flyball-examiner-"))
  try {
    await using governor = await openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir }) })
    await body(governor)
  } finally {
    await rm(dir, { recursive: true })
  }
}

describe("the thread for questions about envelopes", () => {
  it("answers what the host's own thread would, one after another", () =>
    withThread(async (thread) => {
      const [small, broken, again] = await Promise.all([
        ask(thread, dense(10)),
        ask(thread, { semantics: "envelope/1" }),
        ask(thread, dense(10))
      ])
      const here = answer({ kind: "lint", about: about(dense(10)) }, inPlaceLimits)
      assert.isTrue(here.complete)
      assert.deepStrictEqual([lintOf(small), lintOf(again)], [here, here])
      assert.isFalse(lintOf(broken).publishable)
    }))

  it("compares behaviour as the host's own thread would, all decisions of it", () =>
    withThread(async (thread) => {
      const found = await new Promise((resolve) => void thread.ask("change", changed, resolve))
      const here = answer({ kind: "change", about: changed }, inPlaceLimits)
      assert.strictEqual(here.verdict, "changed")
      assert.deepStrictEqual(found, { ok: true, answer: here })
    }))

  it("does not block evaluations: they are answered while 500 rules are linted", () =>
    withGovernor(async (governor) => {
      const { agent } = await governor.agents.register({
        name: "clerk",
        org_unit: "ops",
        owner_name: "Ada",
        owner_email: "ada@example.org"
      })
      await governor.agents.activate(agent.id)
      const { id } = await governor.envelopes.create({ name: "dense", agent_id: agent.id, envelope: dense(500) })
      const enough = new AbortController()
      const seen = { ended: false }
      const lint = governor.envelopes
        .lint(id, {}, { signal: enough.signal })
        .catch(String)
        .finally(() => (seen.ended = true))
      let answered = 0
      while (!seen.ended && answered < 25) {
        await governor.evaluate({ agent_id: agent.id, client_ref: `r${answered}`, signals: {} })
        answered++
      }
      assert.deepStrictEqual([answered, seen.ended], [25, false])
      enough.abort()
      assert.include(String(await lint), "aborted by its signal")
    }))

  it("lets no publication wait behind a long lint", () =>
    withGovernor(async (governor) => {
      const { envelopes } = governor
      const [ann, ben] = [{ writer: "system:ann" }, { writer: "system:ben" }]
      const made = async (name: string, envelope: EnvelopeSource): Promise<string> => {
        const { agent } = await governor.agents.register({ name, org_unit: "ops" })
        return (await envelopes.create({ name, agent_id: agent.id, envelope }, ann)).id
      }
      const long = await made("long", dense(500, 14))
      const [first, second] = [await made("first", dense(5)), await made("second", dense(5))]
      // Starts the thread for publications.
      await envelopes.publish(first, {}, ben)
      const away = new AbortController()
      let ended = 0
      const lints = Array.from({ length: 8 }, () =>
        envelopes
          .lint(long, {}, { ...ann, signal: away.signal })
          .catch(() => null)
          .finally(() => ended++)
      )
      assert.strictEqual((await envelopes.publish(second, {}, ben)).version, 1)
      assert.strictEqual(ended, 0)
      away.abort()
      await Promise.all(lints)
    }))

  it("is started again when it dies: it repeats the question once, and answers those that wait", () =>
    withThread(async (thread) => {
      const both = [ask(thread, dense(30)), ask(thread, dense(5))] as const
      await thread.crash()
      const [large, small] = await Promise.all(both)
      assert.deepStrictEqual(lintOf(large), answer({ kind: "lint", about: about(dense(30)) }, inPlaceLimits))
      assert.isTrue(lintOf(small).complete)
    }))

  it("gives up a question over which it dies twice, and no other", () =>
    withThread(async (thread) => {
      const both = [ask(thread, dense(30)), ask(thread, dense(5))] as const
      await thread.crash()
      await thread.crash()
      const [large, small] = await Promise.all(both)
      assert.deepStrictEqual(large, { ok: false, reason: "the thread died twice over this question (it stopped)" })
      assert.isTrue(lintOf(small).complete)
    }))

  it("ends with its governor, and takes back what waits for its turn", async () => {
    const thread = new ExaminerThread()
    const first = ask(thread, dense(500))
    let reported = false
    const takeBack = thread.ask("lint", about(dense(5)), () => (reported = true))
    takeBack()
    await thread.close()
    assert.deepStrictEqual(await first, { ok: false, reason: "the thread was closed" })
    assert.deepStrictEqual(await ask(thread, dense(5)), { ok: false, reason: "the thread was closed" })
    assert.isFalse(reported)
  })
})
