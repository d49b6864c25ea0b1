/** Files that are not built like a pack: each is refused as unreadable, whatever else may be right in it. */
import { formatNote, toBase64, utf8 } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { makeChain } from "./chain.ts"
import { check, codesOf, linesOf, makePack, packOf, reseal } from "./packs.ts"

const chain = makeChain({ seed: 13, length: 6 })
const full = linesOf(
  await makePack(chain, { kind: "full", older: 3, hints: [chain.signer.vkey], tokens: [utf8("token")] })
)
const sparse = linesOf(await makePack(chain, { kind: "sparse", seqs: [1, 2, 4] }))
const at = (lines: ReadonlyArray<string>, tag: string): number =>
  lines.findIndex((line) => line === tag || line.startsWith(`${tag} `))
const last = (lines: ReadonlyArray<string>, tag: string): number =>
  lines.findLastIndex((line) => line.startsWith(`${tag} `))
const put =
  (index: number, ...added: ReadonlyArray<string>) =>
  (lines: ReadonlyArray<string>) =>
    lines.toSpliced(index, 0, ...added)
const drop = (tag: string) => (lines: ReadonlyArray<string>) => lines.toSpliced(at(lines, tag), 1)
const edit = (tag: string, change: (line: string) => string) => (lines: ReadonlyArray<string>) =>
  lines.with(at(lines, tag), change(lines[at(lines, tag)]!))
const hashes = (count: number): string => ` ${toBase64(new Uint8Array(32))}`.repeat(count)

const unreadable: ReadonlyArray<
  readonly [
    name: string,
    lines: ReadonlyArray<string>,
    change: (lines: ReadonlyArray<string>) => ReadonlyArray<string>,
    code?: string
  ]
> = [
  ["another first word", full, edit("evidence-pack/v1", (line) => line.replace("evidence", "Evidence"))],
  ["version 2", full, edit("evidence-pack/v1", (line) => line.replace("v1", "v2")), "E_VERSION"],
  ["no origin", full, edit("evidence-pack/v1", () => "evidence-pack/v1")],
  ["an origin with a plus", full, edit("evidence-pack/v1", (line) => `${line}+x`)],
  ["two spaces after the first word", full, edit("evidence-pack/v1", (line) => line.replace(" ", "  "))],
  ["a space behind the origin", full, edit("evidence-pack/v1", (line) => `${line} `)],
  ["a first line of 300 characters", full, edit("evidence-pack/v1", (line) => line.padEnd(300, "a"))],
  ["no header", full, drop("H")],
  ["a header twice", full, put(2, full[1]!)],
  ["a header that is not canonical", full, edit("H", (line) => line.replace(":", ": "))],
  ["a header with a member more", full, edit("H", (line) => line.replace(/}$/, ',"x":1}'))],
  ["a header with a member less", full, edit("H", (line) => line.replace(/"generator":"[^"]*",/, ""))],
  ["a header with a member twice", full, edit("H", (line) => line.replace('"from":0,', '"from":0,"from":0,'))],
  ["a header with a seq that is a text", full, edit("H", (line) => line.replace('"from":0', '"from":"0"'))],
  ["a header with an instant that is none", full, edit("H", (line) => line.replace("2026-11-21", "2026-11-31"))],
  ["a header of another kind", full, edit("H", (line) => line.replace('"full"', '"whole"'))],
  ["a header with a filter that is a list", full, edit("H", (line) => line.replace('"filter":{}', '"filter":[]'))],
  [
    "a header nested without end",
    full,
    edit("H", (line) => line.replace('"filter":{}', `"filter":{"a":${"[".repeat(100_000)}`))
  ],
  ["no checkpoint", full, drop("C")],
  ["two checkpoints", full, put(3, full[2]!)],
  [
    "a checkpoint of four lines",
    full,
    edit(
      "C",
      (line) =>
        `C ${toBase64(utf8(new TextDecoder().decode(Buffer.from(line.slice(2), "base64")).replace("\n\n", "\nx\n\n")))}`
    )
  ],
  ["a checkpoint without a signature", full, edit("C", () => `C ${toBase64(utf8("a\n1\nAAAA\n"))}`)],
  ["a checkpoint in base64 without padding", full, edit("C", (line) => line.slice(0, -1))],
  ["an empty checkpoint", full, edit("C", () => "C ")],
  ["G without X", full, drop("X")],
  ["X without G", full, drop("G")],
  ["X with half a hash", full, edit("X", (line) => line.slice(0, -10))],
  ["X with a space behind it", full, edit("X", (line) => `${line} `)],
  [
    "K before W",
    full,
    (lines) => lines.with(at(lines, "W"), lines[at(lines, "K")]!).with(at(lines, "K"), lines[at(lines, "W")]!)
  ],
  ["a hint with a carriage return", full, edit("K", (line) => `${line}\r`)],
  ["129 hashes on X", full, edit("X", () => `X${hashes(129)}`), "E_LIMIT"],
  ["129 hashes on S", full, edit("S", () => `S 0 5${hashes(129)}`), "E_LIMIT"],
  ["129 hashes on I", sparse, edit("I", (line) => `${line.split(" ", 2).join(" ")}${hashes(129)}`), "E_LIMIT"],
  [
    "hundreds of thousands of fields on X, which are not decoded",
    full,
    edit("X", () => `X${" ?".repeat(400_000)}`),
    "E_LIMIT"
  ],
  ["65 hints", full, put(at(full, "K"), ...Array.from({ length: 64 }, () => full[at(full, "K")]!)), "E_LIMIT"],
  ["a token that is none", full, edit("W", () => "W ?")],
  ["17 tokens", full, put(at(full, "W"), ...Array.from({ length: 16 }, () => full[at(full, "W")]!)), "E_LIMIT"],
  ["a hint after the records", full, put(last(full, "R") + 1, full[at(full, "K")]!)],
  ["no S", full, drop("S")],
  ["S twice", full, put(at(full, "S"), full[at(full, "S")]!)],
  [
    "S before the last record",
    full,
    (lines) => lines.toSpliced(at(lines, "S"), 1).toSpliced(last(lines, "R"), 0, lines[at(lines, "S")]!)
  ],
  ["S with a leading zero", full, edit("S", (line) => line.replace("S 0", "S 00"))],
  ["S with one number", full, edit("S", () => "S 0")],
  ["S in a sparse pack", sparse, put(last(sparse, "I") + 1, "S 0 5")],
  ["I in a full pack", full, put(at(full, "R") + 1, sparse[at(sparse, "I")]!)],
  ["a record without its proof", sparse, drop("I")],
  ["a proof twice", sparse, put(at(sparse, "I"), sparse[at(sparse, "I")]!)],
  ["a proof without its record", sparse, drop("R")],
  ["a record after a part", full, put(at(full, "D") + 1, full[at(full, "R")]!)],
  ["D after E", full, put(at(full, "E") + 1, full[at(full, "D")]!)],
  [
    "D with a salt of 31 bytes",
    full,
    edit("D", (line) => line.replace(/^(D \d+ [a-z]+) [^ ]+/, `$1 ${toBase64(new Uint8Array(31))}`))
  ],
  ["D with an upper-case name", full, edit("D", (line) => line.replace(/^(D \d+) [a-z]+/, "$1 Args"))],
  ["D with a field more", full, edit("D", (line) => `${line} x`)],
  ["D with a field less", full, edit("D", (line) => line.slice(0, line.lastIndexOf(" ")))],
  ["E with a negative seq", full, edit("E", (line) => line.replace("E ", "E -"))],
  ["E with a field more", full, edit("E", (line) => `${line} 1`)],
  ["an unknown tag", full, put(at(full, "S") + 1, "Q anything")],
  ["a lower-case tag", full, edit("S", (line) => line.toLowerCase())],
  ["a tag without a payload", full, edit("R", () => "R")],
  ["a tag and a space alone", full, edit("R", () => "R ")],
  ["an empty line", full, put(at(full, "S"), "")],
  ["a comment", full, put(at(full, "S"), "# hello")]
]

describe("a file is refused as a pack with", () => {
  it("no error is not refused", async () => {
    expect(await check(packOf(full), chain)).toMatchObject({ exit: 0, findings: [] })
    expect(await check(packOf(sparse), chain)).toMatchObject({ exit: 0, findings: [] })
  })

  for (const [name, lines, change, code = "E_FORMAT"] of unreadable) {
    it(name, async () => {
      const report = await check(reseal(chain, change(lines), { size: 6 }), chain)
      expect(codesOf(report), JSON.stringify(report.findings)).toContain(code)
      expect(report).toMatchObject({
        exit: 3,
        verdicts: {
          integrity: "not_checked",
          authenticity: "not_checked",
          completeness: "not_checked",
          anchoring: "none"
        }
      })
    })
  }

  const ends: ReadonlyArray<readonly [name: string, pack: string]> = [
    ["no last newline", full.join("\n")],
    ["a line behind N", `${full.join("\n")}\nK ${chain.signer.vkey}\n`],
    ["an empty line behind N", `${full.join("\n")}\n\n`],
    ["a second pack behind the first", `${full.join("\n")}\n${full.join("\n")}\n`],
    ["carriage returns everywhere", `${full.join("\r\n")}\r\n`],
    [
      "a carriage return behind a record",
      `${full.with(at(full, "R") + 1, `${full[at(full, "R") + 1]}\r`).join("\n")}\n`
    ],
    ["bytes behind N", `${full.join("\n")}\nhello`],
    ["no N", `${full.slice(0, -1).join("\n")}\n`],
    ["no Z and no N", `${full.slice(0, -2).join("\n")}\n`],
    ["Z in upper case", `${full.toSpliced(-2, 1, full.at(-2)!.toUpperCase()).join("\n")}\n`],
    ["Z without its digest", `${full.toSpliced(-2, 1, "Z 1").join("\n")}\n`],
    ["N in broken base64", `${full.toSpliced(-1, 1, "N ====").join("\n")}\n`],
    ["N twice", `${[...full, full.at(-1)!].join("\n")}\n`],
    ["a byte-order mark", `\ufeff${full.join("\n")}\n`],
    ["nothing in it", ""],
    ["a newline in it", "\n"],
    ["only its first line", `${full[0]}\n`],
    ["only JSON in it", JSON.stringify({ hello: "world" })],
    ["only a checkpoint in it", formatNote("a\n1\nAAAA\n", [chain.signer.line("a\n1\nAAAA\n")])]
  ]
  for (const [name, text] of ends) {
    it(name, async () => {
      const report = await check(utf8(text), chain)
      expect(codesOf(report)).toEqual(["E_FORMAT"])
      expect(report.exit).toBe(3)
    })
  }

  it("an unreadable line, and earlier findings are kept", async () => {
    const changed = full
      .with(last(full, "R"), full[last(full, "R")]!.replace('"seq":5', '"seq":6'))
      .with(at(full, "S"), "S")
    const report = await check(reseal(chain, changed), chain)
    expect(codesOf(report)).toEqual(["E_FORMAT", "E_SEQ"])
    expect(report.findings.map((finding) => finding.line)).toEqual([last(full, "R") + 1, at(full, "S") + 1])
  })

  it("many findings, which are all counted; a hundred are listed, at least one of each code", async () => {
    const long = makeChain({ seed: 14, length: 150 })
    const lines = linesOf(await makePack(long, { kind: "full", disclose: false })).map((line) =>
      line.replace(/^R (.*)"prev"/, 'R $1 "prev"')
    )
    const report = await check(reseal(long, lines), long)
    expect(report.findings).toHaveLength(100)
    expect(report.findingCount).toBe(152)
    expect(codesOf(report)).toEqual(["E_NONCANONICAL", "E_PART_UNEXPLAINED", "E_ROOT"])
    expect(report.not_checked).toContain("52 more findings are not listed.")
  })
})
