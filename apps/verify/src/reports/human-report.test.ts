/** Layout and safety of the human report. */
import type { Finding, FindingCode, Report } from "@flyball/evidence"
import { findingCodes, portableCrypto, verifyPack } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { brokenLinkText } from "../broken-link.ts"
import { parseDuration } from "../duration.ts"
import { findingText } from "./explanations.ts"
import { humanReport } from "./human-report.ts"
import { progressLine } from "../progress.ts"

describe("the human report", () => {
  it("explains every finding there is", () => {
    expect(Object.keys(findingText).sort()).toEqual([...findingCodes].sort())
    for (const sentence of Object.values(findingText)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })

  it("lets nothing out of a pack or a file name steer a terminal, and keeps its width", async () => {
    const report = await verifyPack(portableCrypto, [], { file: "pack\u001b[2J\u202e\n.evp" })
    const text = humanReport(report)
    for (const character of ["\u001b", "\u202e"]) expect(text).not.toContain(character)
    expect(text).toContain("pack\\u001b[2J\\u202e\\u000a.evp")
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100)
  })
})

describe("a broken link", () => {
  const finding = (seq: number, code: FindingCode = "E_PREV"): Finding => ({
    code,
    line: seq + 4,
    seq,
    expected: "",
    found: ""
  })
  const sentence = async (seq: number, listed: ReadonlyArray<Finding>, header: object = {}): Promise<string | null> => {
    const report = await verifyPack(portableCrypto, [])
    const known = {
      created: "",
      filter: {},
      from: 0,
      generator: "",
      kind: "full",
      to: 9,
      tree_size: 10,
      ...header
    } as NonNullable<Report["header"]>
    return brokenLinkText(finding(seq), { ...report, header: known, findings: listed, findingCount: listed.length })
  }
  const sealed = "Record 5 was sealed after a different record 4"

  it("names the record before, when the record itself fits the one after it", async () => {
    const text = `${sealed}: record 4 was changed, or record 5 and all after it were replaced.`
    expect(await sentence(5, [finding(5)])).toBe(text)
    expect(await sentence(5, [finding(5), finding(8)])).toBe(text)
  })

  it("names the record itself, when the next one does not fit it either", async () => {
    expect(await sentence(5, [finding(5), finding(6)])).toBe(
      `${sealed}, and record 6 after another record 5: record 5 was changed, and record 4 may have been.`
    )
    expect(await sentence(0, [finding(0)])).toBe(
      "Record 0 names a record before it, which cannot exist: record 0 was changed."
    )
  })

  it("leaves it open where the pack does not show it", async () => {
    const open = `${sealed}: record 4 was changed, or record 5 was.`
    expect(await sentence(5, [finding(5)], { to: 5 })).toBe(open)
    expect(await sentence(5, [finding(5)], { kind: "sparse" })).toBe(open)
    for (const code of ["E_NONCANONICAL", "E_SEQ", "E_LIMIT", "E_VERSION"] as const)
      expect(await sentence(5, [finding(5), finding(6, code)])).toBe(open)
    expect(await sentence(5, [finding(5), finding(9, "E_COUNT")])).toBe(open)
  })

  it("is said of nothing else", async () => {
    const report = await verifyPack(portableCrypto, [])
    for (const code of findingCodes) if (code !== "E_PREV") expect(brokenLinkText(finding(5, code), report)).toBeNull()
  })
})

describe("a duration", () => {
  it("is a number and a unit", () => {
    expect(["90s", "15m", "24h", "7d", "0s"].map(parseDuration)).toEqual([90_000, 900_000, 86_400_000, 604_800_000, 0])
    expect(["", "24", "h", "1.5h", "-1h", "24H", "1h30m", "01h", " 1h"].map(parseDuration)).toEqual(
      Array.from({ length: 9 }, () => null)
    )
  })
})

describe("progress", () => {
  it("is written at most every fifth of a second, and wiped at the end", async () => {
    let now = 1000
    const written: Array<string> = []
    const line = progressLine(
      async (text) => void written.push(text),
      () => now
    )
    for (; now < 2000; now += 50) line.report({ bytes: now * 1_000_000, records: now })
    await line.end()
    expect(written).toHaveLength(6)
    expect(written[0]).toContain("1,000 records, 1,000 MB read")
    expect(written.at(-1)).toBe("\r\u001b[K")
  })

  it("leaves no trace when it showed nothing", async () => {
    const written: Array<string> = []
    await progressLine(
      async (text) => void written.push(text),
      () => 0
    ).end()
    expect(written).toEqual([])
  })
})
