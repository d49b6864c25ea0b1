/** Files from anywhere: the verifier never crashes, never says 0, and never takes more memory than it promised. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { utf8, verifyPack } from "@flyball/evidence"
import { nodeCrypto, verifyPackFile } from "@flyball/evidence/node"
import fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { makeChain } from "./chain.ts"
import { check, linesOf, makePack, packOf, reseal } from "./packs.ts"
import { runs } from "../runs.ts"

const chain = makeChain({ seed: 41, length: 8 })
const seeds = await Promise.all([
  makePack(chain, { kind: "full", older: 4, hints: [chain.signer.vkey], tokens: [utf8("t")] }),
  makePack(chain, { kind: "range", from: 2, to: 5 }),
  makePack(chain, { kind: "sparse", seqs: [1, 2, 4, 6] })
])
const folder = mkdtempSync(join(tmpdir(), "flyball-fuzz-"))
afterAll(() => rmSync(folder, { recursive: true }))
const fuzzing = { numRuns: runs(100, 600), seed: 42 }

describe("the verifier", () => {
  it("reads any bytes without a crash: exit 3", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), async (bytes, started) => {
        const pack = started ? Buffer.concat([utf8("evidence-pack/v1 a\n"), bytes]) : bytes
        expect((await check(pack, chain)).exit).toBe(3)
      }),
      fuzzing
    ))

  it("reads any lines without a crash: exit 3", () => {
    const line = fc.oneof(
      fc
        .tuple(fc.constantFrom(..."HCGXWKRISDEZN"), fc.string({ maxLength: 60 }))
        .map(([tag, rest]) => `${tag} ${rest}`),
      fc.constantFrom(...seeds.flatMap((pack) => linesOf(pack)))
    )
    return fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), fc.nat(3), async (lines, kept) => {
        const pack = packOf([...linesOf(seeds[0]!).slice(0, kept), ...lines])
        expect((await check(pack, chain)).exit).not.toBe(0)
      }),
      fuzzing
    )
  })

  it("reads good packs with spans changed, moved and doubled: never exit 0", () => {
    const span = fc.record({
      pack: fc.constantFrom(...seeds),
      from: fc.nat(6000),
      length: fc.integer({ min: 1, max: 300 }),
      to: fc.nat(6000),
      with: fc.uint8Array({ minLength: 0, maxLength: 40 }),
      how: fc.constantFrom("replace", "double", "cut")
    })
    return fc.assert(
      fc.asyncProperty(span, async ({ from, how, length, pack, to, with: other }) => {
        const [a, b] = [from % pack.length, to % pack.length]
        const taken = pack.subarray(a, a + length)
        const changed =
          how === "replace"
            ? Buffer.concat([pack.subarray(0, a), other, pack.subarray(a + length)])
            : how === "cut"
              ? Buffer.concat([pack.subarray(0, a), pack.subarray(a + length)])
              : Buffer.concat([pack.subarray(0, b), taken, pack.subarray(b)])
        if (Buffer.compare(changed, pack) === 0) return
        expect((await check(changed, chain)).exit).not.toBe(0)
      }),
      fuzzing
    )
  })

  it("reads resealed packs with lines changed: exit 0 only for a change of a free text", () => {
    const change = fc.record({
      pack: fc.constantFrom(...seeds),
      line: fc.nat(100),
      at: fc.nat(2000),
      by: fc.constantFrom(" ", "0", "1", "-", '"', "}", "[", "\\", "\ud83d\ude00", "a")
    })
    return fc.assert(
      fc.asyncProperty(change, async ({ at, by, line, pack }) => {
        const lines = [...linesOf(pack)].slice(0, -2)
        const i = 1 + (line % (lines.length - 1))
        const text = lines[i]!
        lines[i] = text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1)
        if (lines[i] === text) return
        const report = await check(reseal(chain, lines, { size: 8 }), chain)
        // The log may say of itself what it likes in a few places: who made the pack and when, what was filtered,
        // hints.
        const free = /^[HWK] /.test(text) && report.exit === 0
        if (!free) expect(report.exit).not.toBe(0)
      }),
      fuzzing
    )
  })

  it("gives the same report for bytes in chunks of any size", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }),
        fc.nat(5000),
        async (pack, sizes, flip) => {
          const changed = flip < pack.length ? pack.with(flip, pack[flip]! ^ 4) : pack
          const chunks: Array<Uint8Array> = []
          for (let at = 0, i = 0; at < changed.length; i++) {
            const size = sizes[i % sizes.length]!
            chunks.push(changed.slice(at, at + size))
            at += size
          }
          expect(await verifyPack(nodeCrypto, chunks, { vkeys: [chain.signer.vkey] })).toEqual(
            await check(changed, chain)
          )
        }
      ),
      { numRuns: runs(40, 200), seed: 42 }
    ))
})

describe("hostile files", () => {
  const file = async (name: string, bytes: Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    const before = process.memoryUsage().arrayBuffers
    let most = before
    const report = await verifyPackFile(path, {
      vkeys: [chain.signer.vkey],
      onProgress: () => void (most = Math.max(most, process.memoryUsage().arrayBuffers))
    })
    return { report, grownBytes: most - before }
  }
  const MiB = 1024 * 1024
  const head = linesOf(seeds[0]!)

  it("20 MB of [ is refused, as a file, as a header, as a record", async () => {
    const brackets = "[".repeat(20_000_000)
    expect((await file("brackets", utf8(brackets))).report).toMatchObject({
      exit: 3,
      findings: [{ code: "E_FORMAT", line: 1 }]
    })
    expect((await file("header", utf8(`${head[0]}\nH ${brackets}\n`))).report).toMatchObject({
      exit: 3,
      findings: [{ code: "E_FORMAT", line: 2 }]
    })
    const records = head.map((line) => (line.startsWith("R ") ? `R ${brackets}` : line)).slice(0, 8)
    expect((await file("record", packOf(records))).report).toMatchObject({
      exit: 3,
      findings: [{ code: "E_LIMIT" }, { code: "E_FORMAT" }]
    })
  })

  it("an endless line is refused before it fills the memory", async () => {
    // Far more than the limit of a line and what the collector may leave lying about: only a reader that reads on
    // to the end takes so much.
    const { grownBytes, report } = await file(
      "endless",
      Buffer.concat([utf8(`${head[0]}\n`), Buffer.alloc(320 * MiB, 0x20)])
    )
    expect(report).toMatchObject({ exit: 3, findings: [{ code: "E_LIMIT", line: 2 }] })
    expect(grownBytes).toBeLessThan(160 * MiB)
  })

  it("a decompression bomb is refused, in gzip and zstd", async () => {
    const zeros = Buffer.alloc(128 * MiB)
    for (const [name, bytes] of [
      ["gzip", gzipSync(zeros)],
      ["zstd", zstdCompressSync(zeros)]
    ] as const) {
      const { grownBytes, report } = await file(name, bytes)
      expect(report).toMatchObject({ exit: 3, findings: [{ code: "E_FORMAT" }] })
      expect(grownBytes).toBeLessThan(16 * MiB)
    }
    const records = Buffer.concat([
      utf8(`${head.filter((line) => !/^[GXRSDEZN]/.test(line)).join("\n")}\n`),
      Buffer.alloc(80 * MiB, `R ${"x".repeat(1000)}\n`)
    ])
    for (const [name, bytes] of [
      ["gzip-lines", gzipSync(records)],
      ["zstd-lines", zstdCompressSync(records)]
    ] as const) {
      const { grownBytes, report } = await file(name, bytes)
      expect(report.exit).toBe(3)
      expect(report.findings.map((finding) => finding.code)).toContain("E_LIMIT")
      expect(report.findings).toHaveLength(100)
      expect(grownBytes).toBeLessThan(16 * MiB)
    }
  })

  it("many tiny records do not grow the memory", async () => {
    const { grownBytes, report } = await file(
      "tiny",
      utf8(`${head.filter((line) => !/^[GXRSDEZN]/.test(line)).join("\n")}\n${"R {}\n".repeat(200_000)}`)
    )
    expect(report).toMatchObject({ exit: 3, counts: { records: 200_000 } })
    expect(report.findingCount).toBe(200_001)
    expect(grownBytes).toBeLessThan(16 * MiB)
  })
})
