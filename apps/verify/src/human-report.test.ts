/** Layout and safety of the human report. */
import { findingCodes, portableCrypto, verifyPack } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { parseDuration } from "./duration.ts"
import { findingText } from "./explanations.ts"
import { humanReport } from "./human-report.ts"
import { progressLine } from "./progress.ts"

describe("the human report", () => {
  it("explains every finding there is", () => {
    expect(Object.keys(findingText).sort()).toEqual([...findingCodes].sort())
    for (const sentence of Object.values(findingText)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })

  it("lets nothing out of a pack or a file name steer a terminal, and keeps its width", async () => {
    const report = await verifyPack(portableCrypto, [], { file: "pack\u001b[2J\u202e\n.evp" })
    const text = humanReport(report)
    for (const character of ["\u001b", "\u202e"]) expect(text).not.toContain(character)
    expect(text).toContain("pack?[2J??.evp")
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100)
  })
})

describe("a duration", () => {
  it("is a number and a unit", () => {
    expect(["90s", "15m", "24h", "7d", "0s"].map(parseDuration)).toEqual([90_000, 900_000, 86_400_000, 604_800_000, 0])
    expect(["", "24", "h", "1.5h", "-1h", "24H", "1h30m", "01h", " 1h"].map(parseDuration)).toEqual(Array.from({ length: 9 }, () => null))
  })
})

describe("progress", () => {
  it("is written at most every fifth of a second, and wiped at the end", async () => {
    let now = 1000
    const written: Array<string> = []
    const line = progressLine(async (text) => void written.push(text), () => now)
    for (; now < 2000; now += 50) line.report({ bytes: now * 1_000_000, records: now })
    await line.end()
    expect(written).toHaveLength(6)
    expect(written[0]).toContain("1,000 records, 1,000 MB read")
    expect(written.at(-1)).toBe("\r\u001b[K")
  })

  it("leaves no trace when it showed nothing", async () => {
    const written: Array<string> = []
    await progressLine(async (text) => void written.push(text), () => 0).end()
    expect(written).toEqual([])
  })
})
