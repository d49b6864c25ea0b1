import { type SettleIn, PART_LIMIT_BYTES } from "@flyball/contract"
import { fromUtf8, inOneGo, portableCrypto } from "@flyball/evidence"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { planNoteGap } from "./plan-note-gap.ts"
import { planSettle } from "./plan-settle.ts"

const plan = (settle: SettleIn, writer = "key_1") =>
  inOneGo(
    planSettle(portableCrypto, {
      decisionId: "dec_1",
      decisionSeq: 4,
      agentId: "agt_1",
      settle,
      writer: { id: writer }
    })
  )
const record = (settle: SettleIn, writer?: string) => Result.getOrThrow(plan(settle, writer)).records![0]!

describe("settling", () => {
  it("adds a record about the decision and changes no document", () => {
    const made = record({ status: "error", latency_ms: 12, usage: { output_tokens: 3 }, result: { why: "x" } })
    assert.deepStrictEqual(made.body, {
      agent_id: "agt_1",
      decision_seq: 4,
      latency_ms: 12,
      status: "error",
      usage: { output_tokens: 3 },
      writer: "key_1"
    })
    assert.deepStrictEqual(
      made.parts.map((part) => [part.name, fromUtf8(part.bytes)]),
      [["result", '{"why":"x"}']]
    )
    assert.deepStrictEqual(Result.getOrThrow(plan({ status: "ok" })).puts, [])
  })

  it("happens once per decision, across all writers", () => {
    assert.deepInclude(record({ status: "ok" }).once, { scope: "settle", key: "dec_1" })
    assert.strictEqual(record({ status: "ok" }).once!.digest, record({ status: "ok" }, "usr_2").once!.digest)
    const digests = [
      record({ status: "ok" }),
      record({ status: "error" }),
      record({ status: "ok", latency_ms: 0 }),
      record({ status: "ok", result: null }),
      record({ status: "ok", usage: {} })
    ].map((one) => one.once!.digest)
    assert.strictEqual(new Set(digests).size, digests.length)
  })

  it("refuses a result that is too large", () => {
    assert.strictEqual(
      Result.getOrThrow(Result.flip(plan({ status: "ok", result: "x".repeat(PART_LIMIT_BYTES) })))._tag,
      "DecisionTooLarge"
    )
  })
})

describe("noting a capture gap", () => {
  const from = "2026-11-21T00:00:00.000Z"
  const to = "2026-11-21T00:00:01.000Z"

  it("records when, how many and why", () => {
    const made = Result.getOrThrow(planNoteGap("agt_1", { from, to, count: 3, reason: "crash" }, { id: "key_1" }))
      .records![0]!
    assert.deepStrictEqual(made.body, { agent_id: "agt_1", count: 3, from, reason: "crash", to, writer: "key_1" })
    assert.strictEqual(made.agentId, "agt_1")
    assert.isUndefined(made.once)
  })

  it("takes a gap of no length, and refuses one that ends before it begins", () => {
    assert.isTrue(
      Result.isSuccess(planNoteGap("agt_1", { from, to: from, count: 0, reason: "clock" }, { id: "key_1" }))
    )
    const refused = Result.getOrThrow(
      Result.flip(planNoteGap("agt_1", { from: to, to: from, count: 1, reason: "clock" }, { id: "key_1" }))
    )
    assert.deepStrictEqual(refused.detail[0]?.loc, ["body", "to"])
  })
})
