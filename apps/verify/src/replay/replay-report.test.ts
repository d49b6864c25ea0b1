/** Tests of how a replay changes the report on a pack. */
import { portableCrypto, verifyPack, type Report } from "@flyball/evidence"
import { type RecomputeVerdict, recomputeVerdicts } from "@flyball/rules"
import { beforeAll, describe, expect, it } from "vitest"
import { MAX_LISTED, ReplayCount, withReplay } from "./replay-report.ts"
import { replayCounts, replayEntries, replayText } from "./replay-text.ts"

const counted = (verdicts: ReadonlyArray<RecomputeVerdict>, unreadable = 0) => {
  const count = new ReplayCount(300_000)
  verdicts.forEach((verdict, seq) =>
    count.add({
      seq,
      verdict,
      evaluationId: `evl_${seq}`,
      agentId: "agt_1",
      reason: verdict === "ok" ? null : `Because of ${seq}.`,
      isLate: false
    })
  )
  return count.report(unreadable)
}

let unreadable: Report
beforeAll(async () => {
  unreadable = await verifyPack(portableCrypto, [])
})
const exit = (packExit: Report["exit"], ...verdicts: ReadonlyArray<RecomputeVerdict>) =>
  withReplay({ ...unreadable, exit: packExit }, counted(verdicts), null).exit

describe("the exit status", () => {
  it("is 1 for what does not follow, 2 for what is withheld, and never better than the pack's", () => {
    expect([
      exit(0),
      exit(0, "ok"),
      exit(0, "ok", "withheld"),
      exit(0, "withheld", "rule_mismatch"),
      exit(2, "ok"),
      exit(2, "outcome_mismatch"),
      exit(1, "withheld")
    ]).toEqual([0, 0, 2, 1, 2, 1, 1])
    expect(withReplay({ ...unreadable, exit: 0 }, null, "Not recomputed: a reason.")).toMatchObject({
      exit: 2,
      not_checked: ["Not recomputed: a reason.", ...unreadable.not_checked]
    })
    expect(withReplay({ ...unreadable, exit: 0 }, counted(["ok"], 1), null).exit).toBe(2)
  })
})

describe("what is withheld for another reason than that it is not shown", () => {
  it.each([
    ["budget", "1 standing approval was not proved"],
    ["key", "1 record is written by an ingest key more than 5 minutes after"],
    ["late", "1 record of stops says a time more than 5 minutes before the record's own."]
  ] as const)("is named: %s", (because, sentence) => {
    const count = new ReplayCount(300_000)
    count.add({ seq: 1, verdict: "withheld", evaluationId: "", agentId: "", reason: "", isLate: false, because })
    const { exit, not_checked } = withReplay({ ...unreadable, exit: 0 }, count.report(0), null)
    expect(exit).toBe(2)
    expect(not_checked[0]).toContain(sentence)
    expect(not_checked.join(" ")).not.toContain("not in this pack")
  })
})

describe("the lists", () => {
  it("hold the first of either kind, and the counts hold all", () => {
    const many = counted([
      ...Array.from({ length: 30 }, () => "withheld" as const),
      ...Array.from({ length: 25 }, () => "tier_mismatch" as const),
      "ok"
    ])
    expect([many.evaluations, many.verdicts, many.mismatches.length, many.withheld.length]).toEqual([
      56,
      { withheld: 30, tier_mismatch: 25, ok: 1 },
      MAX_LISTED,
      MAX_LISTED
    ])
    expect(replayCounts(many)).toBe("56 recomputed: 1 ok, 25 tier_mismatch, 30 withheld.")
    const [wrong, open] = replayEntries(many)
    expect(wrong!.title).toBe("Judged records that do not follow from their rules: 25, the first 20 of them here")
    expect(wrong!.items[0]).toBe(
      "Record 30: The agent had a different tier or status. Because of 30. (tier_mismatch, evl_30 of agt_1)"
    )
    expect(open!.title).toContain("could not be recomputed: 30")
    expect(many.statement).toMatch(/^25 judged records do not follow .* \(the first: tier_mismatch at record 30\)/)
  })

  it("accuse the sealer as soon as one verdict is not of an SDK", () => {
    const statement = (...local: ReadonlyArray<boolean>): string => {
      const count = new ReplayCount(300_000)
      for (const [seq, isLocal] of local.entries())
        count.add({
          seq,
          verdict: "envelope_unknown",
          evaluationId: `evl_${seq}`,
          agentId: "agt_1",
          reason: "",
          isLate: false,
          ...(isLocal ? { isLocal } : {})
        })
      return count.report(0).statement
    }
    expect(statement(true, true)).toMatch(/an agent's SDK reports a verdict that its envelopes do not give\.$/)
    for (const local of [[false], [true, false], [false, true]])
      expect(statement(...local)).toMatch(
        /the sealer of this chain sealed something that does not follow from its rules\.$/
      )
  })

  it("name what was made long before it was recorded, which is open and not wrong", () => {
    const count = new ReplayCount(300_000)
    for (let seq = 0; seq < 30; seq++)
      count.add({
        seq,
        verdict: "ok",
        evaluationId: `evl_${seq}`,
        agentId: "agt_1",
        reason: null,
        isLate: seq % 2 === 1
      })
    const late = count.report(0)
    expect([late.late.count, late.late.seqs]).toEqual([15, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29]])
    expect(replayEntries(late)).toEqual([
      {
        title: "Evaluations made long before they were recorded: 15",
        items: [expect.stringMatching(/^Records 1, 3, .*: the evaluation.s time is more than 5 minutes /)]
      }
    ])
    expect(withReplay({ ...unreadable, exit: 0 }, late, null)).toMatchObject({
      exit: 2,
      not_checked: [
        expect.stringMatching(/^15 evaluations name times more than 5 minutes before their records\./),
        ...unreadable.not_checked
      ]
    })
  })

  it("have a sentence for every verdict there is", () =>
    expect(Object.keys(replayText).sort()).toEqual([...recomputeVerdicts].sort()))
})
