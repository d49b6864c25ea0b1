/**
 * Disclosed parts: the report is that of a plain reader of text lines, from one reading and from two, in chunks of any
 * size.
 */
import { createHmac } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import type { Report } from "@flyball/evidence"
import { portableCrypto, verifyPack } from "@flyball/evidence"
import { nodeCrypto, verifyPackFile } from "@flyball/evidence/node"
import { afterAll, describe, expect, it } from "vitest"
import type { Chain } from "./chain.ts"
import { makeChain } from "./chain.ts"
import { linesOf, makePack, reseal } from "./packs.ts"
import type { Random } from "./random.ts"
import { randomFrom } from "./random.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-disclosed-"))
afterAll(() => rmSync(folder, { recursive: true }))

const inPieces = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

/** The report, from every way of reading; all must be equal. In pieces of a few bytes no line lies whole in a chunk. */
const reportOf = async (pack: Uint8Array, chain: Chain, random: Random): Promise<Report> => {
  const path = join(folder, "pack")
  const all = { vkeys: [chain.signer.vkey], file: "pack" }
  const alone = await verifyPack(portableCrypto, inPieces(pack, 29), all)
  expect(
    await verifyPack(nodeCrypto, inPieces(pack, 300 + random.below(5000)), {
      ...all,
      reopen: () => inPieces(pack, 777)
    })
  ).toEqual(alone)
  for (const bytes of [pack, random.below(2) === 0 ? gzipSync(pack) : zstdCompressSync(pack)]) {
    writeFileSync(path, bytes)
    expect(await verifyPackFile(path, all)).toEqual(alone)
  }
  return alone
}

/**
 * Lines about which there is something to say, by a reader who only knows text. Ends with the first that cannot be
 * read.
 */
const plainReading = (
  lines: ReadonlyArray<string>,
  chain: Chain
): {
  readonly disclosed: number
  readonly withLine: number
  readonly wrong: ReadonlyArray<number>
  readonly unreadable: number | null
} => {
  const strict = (text: string): Buffer | null =>
    Buffer.from(text, "base64").toString("base64") === text ? Buffer.from(text, "base64") : null
  const wrong: Array<number> = []
  let disclosed = 0
  /** Parts that a D line in its place stands for, whether it fits or not. */
  let withLine = 0
  let before = ""
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith("D ")) continue
    const [, seq, name, saltText, partText] =
      /^D (0|[1-9][0-9]{0,15}) ([a-z][a-z0-9_]{0,31}) ([^ ]+) ([^ ]*)$/s.exec(line) ?? []
    const [salt, part] = [strict(saltText ?? "?"), strict(partText ?? "?")]
    if (salt?.length !== 32 || part === null || !Number.isSafeInteger(Number(seq)))
      return { disclosed, withLine, wrong, unreadable: i + 1 }
    const place = `${seq!.padStart(16, "0")} ${name}`
    const committed = chain.records[Number(seq)]?.parts.find((one) => one.name === name)
    const commitment = (key: Uint8Array, bytes: Uint8Array): string =>
      createHmac("sha256", key)
        .update("flyball/v1 part\0")
        .update(Uint8Array.of(0, 0, 0, name!.length))
        .update(name!)
        .update(bytes)
        .digest("hex")
    if (place > before && committed !== undefined) withLine++
    if (
      place > before &&
      committed !== undefined &&
      commitment(salt, part) === commitment(committed.salt, committed.bytes)
    )
      disclosed++
    else wrong.push(i + 1)
    if (place > before) before = place
  }
  return { disclosed, withLine, wrong, unreadable: null }
}

const agree = async (lines: ReadonlyArray<string>, chain: Chain, random: Random): Promise<Report> => {
  const pack = reseal(chain, lines)
  const report = await reportOf(pack, chain, random)
  const { disclosed, unreadable, withLine, wrong } = plainReading(linesOf(pack), chain)
  // A hundred findings are listed, the rest is counted.
  expect(report.findings.filter(({ code }) => code === "E_PART_MISMATCH").map(({ line }) => line)).toEqual(
    wrong.slice(0, unreadable === null ? 100 : 99)
  )
  expect(report.findingCount).toBe(wrong.length + (unreadable === null ? 0 : 1))
  expect(report.findings.filter(({ code }) => code === "E_FORMAT").map(({ line }) => line)).toEqual(
    unreadable === null ? [] : [unreadable]
  )
  if (unreadable !== null) {
    expect(report.exit).toBe(3)
    return report
  }
  const total = chain.records.reduce((sum, { parts }) => sum + parts.length, 0)
  expect(report.exit).toBe(wrong.length === 0 ? 0 : 1)
  expect(report.counts).toMatchObject({
    parts_disclosed: disclosed,
    parts_erased: chain.erasures.length,
    parts_withheld: total - withLine - chain.erasures.length
  })
  return report
}

const FOREIGN = ["A", "/", "+", "-", "_", "=", " ", "\t", "\r", "\u00e9", "\u0100", ".", "9"]

/** Ways to damage one D line; the tag stays. */
const damages: { readonly [what: string]: (line: string, random: Random) => string } = {
  "another character": (line, random) => {
    const place = 2 + random.below(line.length - 2)
    return line.slice(0, place) + FOREIGN[random.below(FOREIGN.length)]! + line.slice(place + 1)
  },
  "a character more": (line, random) => {
    const place = 2 + random.below(line.length - 1)
    return line.slice(0, place) + FOREIGN[random.below(FOREIGN.length)]! + line.slice(place)
  },
  "a character less": (line, random) => {
    const place = 2 + random.below(line.length - 2)
    return line.slice(0, place) + line.slice(place + 1)
  },
  "bits left over": (line) =>
    line.replace(/([A-Za-z0-9+/])(=+)$/, (_, digit: string, pads: string) => (digit === "/" ? "+" : "/") + pads),
  "a cut": (line, random) => line.slice(0, 3 + random.below(line.length - 3)),
  "more behind the padding": (line) => `${line}AAAA`,
  "padding where none is due": (line) => `${line}====`,
  "no part": (line) => line.replace(/ [^ ]*$/, " "),
  "no part and no space": (line) => line.replace(/ [^ ]*$/, ""),
  "another part": (line, random) =>
    line.replace(/[^ ]*$/, Buffer.from(random.bytes(random.below(400))).toString("base64")),
  "a longer salt": (line) => line.replace(/= /, "AAAA= "),
  "a salt of 33 bytes": (line) => line.replace(/= /, "A "),
  "a salt of 31 bytes": (line) =>
    line.replace(/(\S{40})\S{4} (\S*)$/, (_, kept: string, part: string) => `${kept}AA== ${part}`),
  "a zero before the seq": (line) => line.replace(/^D /, "D 0"),
  "a seq past every number": (line) => line.replace(/^D \d+/, "D 9007199254740993"),
  "another seq": (line, random) => line.replace(/^D \d+/, `D ${random.below(200)}`),
  "another name": (line) => line.replace(/^(D \d+ )\S+/, "$1other"),
  "a name too long": (line) => line.replace(/^(D \d+ )\S+/, `$1${"n".repeat(33)}`),
  "a name with a point": (line) => line.replace(/^(D \d+ \w+)/, "$1.x")
}

describe.each([31, 32])("a chain with parts, seed %i", (seed) => {
  const chain = makeChain({ seed, length: 110 })
  const random = randomFrom(seed)
  const whole = makePack(chain, { kind: "full" }).then(linesOf)
  const aboutParts = (lines: ReadonlyArray<string>): ReadonlyArray<number> =>
    lines.flatMap((line, i) => (line.startsWith("D ") ? [i] : []))

  it("is good with all, some or none of its parts disclosed", async () => {
    const lines = await whole
    for (const kept of [
      lines,
      lines.filter((line) => !line.startsWith("D ") || random.below(3) > 0),
      lines.filter((line) => !line.startsWith("D "))
    ]) {
      expect(await agree(kept, chain, random)).toMatchObject({ exit: 0, findings: [] })
    }
  })

  it.each(Object.entries(damages))("is equally bad in every reader with %s in a D line", async (_, damage) => {
    const lines = await whole
    const places = aboutParts(lines)
    for (let round = 0; round < 6; round++) {
      const changed = [...lines]
      for (let n = random.below(3); n >= 0; n--) {
        const place = places[random.below(places.length)]!
        changed[place] = damage(changed[place]!, random)
      }
      await agree(changed, chain, random)
    }
  })

  it("is equally bad in every reader with D lines moved, doubled or swapped", async () => {
    const lines = await whole
    const places = aboutParts(lines)
    const some = () => places[random.below(places.length)]!
    for (let round = 0; round < 12; round++) {
      const changed = [...lines]
      const [one, other] = [some(), some()]
      if (round % 3 === 0) changed.splice(one, 0, lines[other]!)
      else if (round % 3 === 1) [changed[one], changed[other]] = [changed[other]!, changed[one]!]
      else changed.splice(one, 1)
      await agree(changed, chain, random)
    }
  })

  it("lists a hundred findings and counts the rest when all D lines are reversed", async () => {
    const lines = await whole
    const places = aboutParts(lines)
    const changed = lines.map((line, i) => (places.includes(i) ? lines[places.at(-1 - places.indexOf(i))!]! : line))
    const report = await reportOf(reseal(chain, changed), chain, random)
    expect([report.exit, report.findingCount, report.counts.parts_disclosed]).toEqual([1, places.length - 1, 1])
  })
})
