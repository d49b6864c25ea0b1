import { encodeId } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import type { JsonMap } from "../../records/record.ts"
import { NumbersAt, RecordsAt } from "../records-at.ts"
import { References } from "./references.ts"
import { Writers } from "./writers.ts"

const agent = (n: number): string => `agt_${String(n).padStart(26, "0")}`
const idBytes = (n: number): Uint8Array =>
  Uint8Array.from({ length: 16 }, (_, place) => (place < 4 ? n >> (place * 8) : 1) & 255)
const evaluationId = (n: number): string => encodeId("evl_", idBytes(n))

describe("the index of records by seq", () => {
  it("is exact across chunks, with more agents than two bytes can number", () => {
    const records = new RecordsAt()
    for (let n = 0; n < 40_000; n++) records.add(n, n % 2 === 0 ? "decision" : "evaluation", agent(n))
    records.add(2 ** 40, "decision", agent(39_999))
    for (const n of [0, 1, 32_766, 32_767, 32_768, 39_999])
      assert.deepStrictEqual(records.at(n), { what: n % 2 === 0 ? "decision" : "evaluation", agentId: agent(n) })
    assert.deepStrictEqual(records.at(2 ** 40), { what: "decision", agentId: agent(39_999) })
    assert.isNull(records.at(40_000))
    records.addUnknown(40_000)
    assert.isUndefined(records.at(40_000))
  })

  it("returns 0 for a number that was never set", () => {
    const numbers = new NumbersAt()
    numbers.set(70_000, 2 ** 32 - 1)
    assert.deepStrictEqual([numbers.get(70_000), numbers.get(70_001), numbers.get(1)], [2 ** 32 - 1, 0, 0])
  })
})

describe("references", () => {
  const at = (first: number) => {
    const references = new References(first)
    references.evaluation(first + 1, agent(1), idBytes(7))
    references.decision({
      seq: first + 2,
      kind: "decision.witnessed",
      body: { agent_id: agent(1), evaluation_id: evaluationId(7) }
    })
    references.decision({
      seq: first + 3,
      kind: "decision.witnessed",
      body: { agent_id: agent(1), evaluation_id: evaluationId(8) }
    })
    const problem = (kind: string, body: JsonMap) =>
      references.problem({ seq: first + 9, kind, body: { agent_id: agent(1), ...body } })?.member ?? null
    return { references, problem }
  }

  it("are checked exactly for seqs above 2^32", () => {
    for (const first of [0, 2 ** 33 + 5]) {
      const { problem } = at(first)
      assert.isNull(problem("decision.settled", { decision_seq: first + 2, evaluation_seq: first + 1 }))
      assert.strictEqual(
        problem("decision.settled", { decision_seq: first + 2, evaluation_seq: first + 2 }),
        "evaluation_seq"
      )
      assert.isNull(problem("meter.voided", { evaluation_seq: first + 1, evaluation_id: evaluationId(7) }))
      assert.strictEqual(
        problem("meter.voided", { evaluation_seq: first + 1, evaluation_id: evaluationId(9) }),
        "evaluation_id"
      )
    }
  })

  it("are not reported when their target precedes the first record or is unreadable", () => {
    const { problem, references } = at(100)
    assert.isNull(problem("decision.settled", { decision_seq: 99 }))
    assert.isNull(problem("decision.settled", { decision_seq: 99, evaluation_seq: 101 }))
    assert.isNull(problem("meter.voided", { evaluation_seq: 3, evaluation_id: evaluationId(9) }))
    // A decision may name an evaluation from before.
    assert.isNull(problem("decision.settled", { decision_seq: 103, evaluation_seq: 101 }))
    references.unknown(104)
    assert.isNull(problem("decision.settled", { decision_seq: 104 }))
    assert.isNull(problem("meter.voided", { evaluation_seq: 104, evaluation_id: evaluationId(9) }))
    references.evaluation(105, agent(1), idBytes(10))
    references.misnamed(105, evaluationId(11))
    assert.isNull(problem("meter.voided", { evaluation_seq: 105, evaluation_id: evaluationId(11) }))
  })
})

describe("writers", () => {
  it("of an earlier chain are remembered by key id, and text that is no key id is not kept", () => {
    const writers = new Writers()
    const key = `key_${"0".repeat(26)}`
    const long = `key_${"0".repeat(1_000)}`
    for (const writer of [key, long]) assert.isNull(writers.problem({ seq: -1, kind: "capture.gap", body: { writer } }))
    assert.strictEqual(
      writers.problem({ seq: 4, kind: "ingest_key.minted", body: { key_id: key, writer: "system:host" } }),
      `${key} is created by this record, but wrote in a chain before this one.`
    )
    assert.isNull(writers.problem({ seq: 5, kind: "ingest_key.minted", body: { key_id: long, writer: "system:host" } }))
  })
})
