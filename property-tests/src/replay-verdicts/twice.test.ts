/**
 * Detects duplicates that the service would not make, sealed by the holder of the key: an evaluation under one
 * reference, the end of a decision, a contribution given back.
 */
import type { OpenPack, OpenRecord } from "@flyball/testkit"
import { beforeAll, describe, expect, it } from "vitest"
import { boundedLife } from "./bounded-life.ts"
import { lived, resealed } from "./changed-pack.ts"

let open: OpenPack
beforeAll(async () => {
  ;({ open } = await lived(boundedLife))
})

const last = (kind: string): OpenRecord => open.records.findLast((record) => record.kind === kind)!
/** The chain with more at its end. */
const verdictsOf = async (...more: ReadonlyArray<OpenRecord>) => {
  const { at } = open.records.at(-1)!
  const { integrity, replay, status, text } = await resealed({
    ...open,
    records: [...open.records, ...more.map((record) => ({ ...record, at }))]
  })
  expect(integrity).toBe("ok")
  return {
    found: replay!.mismatches.map(({ seq, verdict }) => [seq - open.records.length, verdict]),
    reason: replay!.mismatches[0]?.reason,
    status,
    text
  }
}
const settled = (change: OpenRecord["body"]): OpenRecord => ({
  ...last("decision.settled"),
  body: { ...last("decision.settled").body, ...change }
})
const voided = (change: OpenRecord["body"] = {}): OpenRecord => ({
  ...last("meter.voided"),
  body: { ...last("meter.voided").body, ...change }
})

describe("replay reports an act that was sealed twice:", () => {
  it("a second evaluation under one reference", async () => {
    const { found, reason, status, text } = await verdictsOf(last("evaluation.made"))
    expect([found, reason, status]).toEqual([
      [[0, "made_twice"]],
      "An earlier record answers the same client_ref of the agent.",
      1
    ])
    expect(text).toContain("The same request was evaluated twice.")
  })

  it("the same without its signals, for each repetition", async () => {
    const hidden = {
      ...last("evaluation.made"),
      parts: last("evaluation.made").parts.map((part) => ({ ...part, disclosed: null }))
    }
    expect((await verdictsOf(hidden, last("evaluation.made"))).found).toEqual([
      [0, "made_twice"],
      [1, "made_twice"]
    ])
  })

  it("a second settlement of a decision", async () => {
    const { found, reason } = await verdictsOf(settled({}))
    expect(found).toEqual([[0, "ended_twice"]])
    expect(reason).toMatch(/^The decision at \d+ was settled before\.$/)
  })

  it("a second settlement that names no meters", async () => {
    const { actual: _, evaluation_seq: __, ...body } = last("decision.settled").body
    expect((await verdictsOf({ ...last("decision.settled"), body })).found).toEqual([[0, "ended_twice"]])
  })

  it("a second release of an evaluation's amounts, by another decision's settlement or by a void", async () => {
    const evaluation = last("decision.settled").body["evaluation_seq"]!
    const { found, reason } = await verdictsOf(settled({ decision_seq: 1 }))
    expect(found).toEqual([[0, "ended_twice"]])
    expect(reason).toMatch(/^The evaluation at \d+ was settled by another decision, or voided, before\.$/)
    expect((await verdictsOf(voided({ evaluation_seq: evaluation }))).found).toEqual([[0, "ended_twice"]])
  })

  it("a second release after a void, by a void or by a settlement", async () => {
    const evaluation = last("meter.voided").body["evaluation_seq"]!
    expect((await verdictsOf(voided())).found).toEqual([[0, "ended_twice"]])
    expect((await verdictsOf(settled({ decision_seq: 1, evaluation_seq: evaluation }))).found).toEqual([
      [0, "ended_twice"]
    ])
  })

  it("but not a first settlement, or one of a later record, which is a wrong reference", async () => {
    const after = open.records.length + 5
    expect(
      (
        await verdictsOf(
          settled({ decision_seq: 1, evaluation_seq: 2 }),
          settled({ decision_seq: after, evaluation_seq: after }),
          settled({ decision_seq: after, evaluation_seq: after })
        )
      ).found
    ).toEqual([
      [0, "reference_mismatch"],
      [1, "reference_mismatch"],
      [2, "reference_mismatch"]
    ])
  })
})
