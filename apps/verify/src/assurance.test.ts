/** The two lines on top of every report. */
import { type Anchoring, portableCrypto, type Report, verifyPack } from "@flyball/evidence"
import { beforeAll, describe, expect, it } from "vitest"
import { assuranceOf, integrityLine } from "./assurance.ts"
import { act } from "./replay/act.ts"
import { ReplayCount } from "./replay/replay-report.ts"

let base: Report
beforeAll(async () => {
  base = await verifyPack(portableCrypto, [])
})

const anchored = (anchoring: Anchoring, ...names: ReadonlyArray<string>): Report => ({
  ...base,
  verdicts: { integrity: "ok", authenticity: "signed_by_pinned_key", completeness: "full", anchoring },
  cosignatures: names.map((name) => ({ name, timeS: 0 }))
})
const textOf = (report: Report): string => assuranceOf(report, null, null).text.split(";")[0]!

describe("the line Integrity", () => {
  it("has the four verdicts", () => {
    expect(integrityLine(anchored("none"))).toBe(
      "integrity ok, authenticity signed_by_pinned_key, completeness full, anchoring none."
    )
  })
})

describe("the line Assurance", () => {
  it("begins with what is outside the operator's reach", () => {
    expect([
      textOf(anchored("none")),
      textOf(anchored("witnessed", "a")),
      textOf(anchored("witnessed", "a", "b", "a")),
      textOf(anchored("stale", "a", "b")),
      textOf(anchored("timestamped")),
      textOf(anchored("consistent_with_trusted_checkpoint"))
    ]).toEqual([
      "unanchored",
      "witnessed by 1 operator",
      "witnessed by 2 operators",
      "witnessed by 2 operators, but longer ago than required",
      "timestamped",
      "continues the checkpoint that you kept"
    ])
  })

  it("counts capture tiers where decisions were counted", () => {
    const line = (mode: object, by: object, claimed: object = { not_stated: 3 }) =>
      assuranceOf(anchored("none"), { mode: { ...mode }, decided_by: { ...by }, claimed: { ...claimed } }, null).text
    expect(line({ enforced: 2, not_stated: 1 }, { fail_open: 1, not_stated: 2 })).toContain(
      "; capture tiers enforced 2, not_stated 1, decided by fail_open 1, not_stated 2; "
    )
    expect(line({ observed: 3 }, { not_stated: 3 })).toContain("; capture tiers observed 3; ")
    expect(line({ enforced: 3 }, { not_stated: 3 }, { mediated: 1, not_stated: 2 })).toContain(
      "; capture tiers enforced 3, claimed mediated 1, not_stated 2; "
    )
    expect(line({}, {})).toContain("; no decisions captured; ")
  })

  it("counts the acts of one person where replay checked them", () => {
    const count = new ReplayCount(0)
    const record = { seq: 1, kind: "envelope.published", body: {}, parts: new Map() }
    count.addAct(act(record, { verdict: "second_person_missing", reason: "" }))
    for (let n = 0; n < 2; n++) count.addAct(act(record, { verdict: "number_mismatch", reason: "" }))
    count.addAct(act(record, null))
    const replay = count.report(0)
    expect(assuranceOf(anchored("none"), null, replay)).toMatchObject({
      self_approved: 1,
      text: expect.stringMatching(/; self-approved 1\.$/)
    })
    expect(assuranceOf(anchored("none"), null, null).self_approved).toBeNull()
  })

  it("is none where the records are not what the pack claims", () => {
    const broken = { ...base, verdicts: { ...base.verdicts, integrity: "broken" as const } }
    expect(assuranceOf(broken, null, null).text).toBe("none: the records are not what the pack claims.")
    expect(assuranceOf(base, null, null).text).toBe("none: the file could not be read as an evidence pack.")
  })
})
