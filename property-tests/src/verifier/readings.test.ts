/**
 * The report is the same in every word, however the bytes of a pack arrive: as a file, in chunks of any size, in
 * memory.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { verifyPack } from "@flyball/evidence"
import type { VerifyFileOptions } from "@flyball/evidence/node"
import { nodeCrypto, verifyPackFile } from "@flyball/evidence/node"
import { afterAll, describe, expect, it } from "vitest"
import type { Chain } from "./chain.ts"
import { checkpointNote, makeChain, withRecord } from "./chain.ts"
import { chain as small, mutate, mutations } from "./mutations.ts"
import { linesOf, makePack, packOf, reseal } from "./packs.ts"
import { randomFrom } from "./random.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-readings-"))
afterAll(() => rmSync(folder, { recursive: true }))

const inChunks = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

let files = 0
/** Verifies as a file, then in chunks of these sizes with one reading and with two. All reports must be equal. */
const sameFor = async (
  pack: Uint8Array,
  chain: Chain,
  chunkSizes: ReadonlyArray<number>,
  options: VerifyFileOptions = {}
) => {
  const path = join(folder, `pack-${files++ % 8}`)
  writeFileSync(path, pack)
  const all = { vkeys: [chain.signer.vkey], file: "pack", ...options }
  const fromFile = await verifyPackFile(path, all)
  let records = 0
  expect(await verifyPackFile(path, { ...all, onRecord: () => void records++ })).toEqual(fromFile)
  expect(records).toBe(fromFile.counts.records)
  if (isCompressed(pack)) return fromFile
  for (const size of [...chunkSizes, pack.length + 1]) {
    const chunks = inChunks(pack, size)
    expect(await verifyPack(nodeCrypto, chunks, all)).toEqual(fromFile)
    expect(await verifyPack(nodeCrypto, chunks, { ...all, reopen: () => chunks })).toEqual(fromFile)
  }
  return fromFile
}

const isCompressed = ([first]: Uint8Array): boolean => first === 0x1f || first === 0x28

describe("the tamper matrix", () => {
  for (const mutation of mutations) {
    it(mutation.name, async () => {
      await sameFor(await mutate(mutation), small, [500, 2500])
    })
  }
})

describe.each([11, 12, 13])("a longer chain, seed %i", (seed) => {
  const chain = makeChain({ seed, length: 150 + seed })
  const random = randomFrom(seed)
  const someSize = () => 300 + random.below(12_000)

  it("is good in every pack, compressed or not", async () => {
    for (const plan of [
      { kind: "full" },
      { kind: "full", disclose: false, older: 70 },
      { kind: "range", from: 37, to: 140 },
      { kind: "sparse", seqs: [1, 2, 4, 90] }
    ] as const) {
      const pack = await makePack(chain, plan)
      for (const bytes of [pack, gzipSync(pack), zstdCompressSync(pack)]) {
        const report = await sameFor(bytes, chain, [someSize(), someSize(), 4000])
        expect([report.exit, report.findings]).toEqual([0, []])
      }
    }
  })

  it("computes roots at requested sizes, and compares a trusted checkpoint", async () => {
    const pack = await makePack(chain, { kind: "full" })
    const report = await sameFor(pack, chain, [someSize(), 9000], {
      rootsAt: [1, 2, 63, 64, 65, 100, chain.records.length],
      trustedCheckpoint: checkpointNote(chain, 77)
    })
    expect([report.roots.size, report.verdicts.anchoring]).toEqual([8, "consistent_with_trusted_checkpoint"])
  })

  it("is equally bad in every reader with any byte changed, removed or cut off", async () => {
    const packs = await Promise.all([
      makePack(chain, { kind: "full" }),
      makePack(chain, { kind: "range", from: 20, to: 120 })
    ])
    for (let round = 0; round < 60; round++) {
      const pack = packs[round % 2]!
      const place = random.below(pack.length)
      const changed =
        round % 4 === 0
          ? pack.slice(0, place)
          : round % 4 === 1
            ? Buffer.concat([pack.subarray(0, place), pack.subarray(place + 1)])
            : pack.with(place, pack[place]! ^ (1 << random.below(8)))
      expect((await sameFor(changed, chain, [someSize()])).exit).not.toBe(0)
    }
  })

  it("is equally bad in every reader with records changed, moved or doubled and the pack resealed", async () => {
    const lines = linesOf(await makePack(chain, { kind: "full" }))
    for (let round = 0; round < 30; round++) {
      const changed = [...lines]
      const one = 3 + random.below(140)
      const other = 3 + random.below(140)
      if (round % 3 === 0) changed.splice(one, 0, lines[other]!)
      else if (round % 3 === 1) [changed[one], changed[other]] = [changed[other]!, changed[one]!]
      else changed[one] = changed[one]!.replace(/[0-9a-f](?=[0-9a-f]*","seq")/, (digit) => (digit === "0" ? "1" : "0"))
      await sameFor(reseal(chain, changed), chain, [someSize()])
    }
  })

  it("is bad with a record of another seq or an earlier time, even with everything after it resealed", async () => {
    for (const [at, code, change] of [
      [40, "E_SEQ", (text: string) => text.replace(/"seq":\d+/, '"seq":41')],
      [60, "E_SEQ", (text: string) => text.replace(/"seq":\d+/, '"seq":7')],
      [80, "E_TIME", (text: string) => text.replace(/"at":"2026/, '"at":"2025')],
      [100, "E_TIME", (text: string) => text.replace(/"at":"2026-11-/, '"at":"2026-13-')],
      [120, "E_NONCANONICAL", (text: string) => text.replace('"v":1', '"v":1 ')]
    ] as const) {
      const changed = withRecord(chain, at, change)
      const report = await sameFor(await makePack(changed, { kind: "full", disclose: false }), changed, [
        someSize(),
        3000
      ])
      expect([report.exit, report.findings.map((finding) => finding.code)]).toEqual([1, expect.arrayContaining([code])])
    }
  })

  it("is equally bad in every reader when its compressed file is damaged", async () => {
    const pack = await makePack(chain, { kind: "full" })
    for (const compressed of [gzipSync(pack), zstdCompressSync(pack)]) {
      for (let round = 0; round < 8; round++) {
        const place = random.below(compressed.length)
        await sameFor(
          round % 2 === 0 ? compressed.subarray(0, place) : compressed.with(place, compressed[place]! ^ 0x10),
          chain,
          [someSize()]
        )
      }
    }
  })
})

it("an erased part without an E line is counted", async () => {
  for (const plan of [
    { kind: "full", disclose: false },
    { kind: "sparse", seqs: [1, 2, 4], disclose: false }
  ] as const) {
    const lines = linesOf(await makePack(small, plan))
    const silent = reseal(
      small,
      lines.filter((line) => !line.startsWith("E "))
    )
    expect(linesOf(silent).length).toBeLessThan(lines.length)
    const report = await sameFor(silent, small, [500, 2500])
    expect([report.exit, report.counts.parts_erased]).toEqual([0, 1])
  }
})

describe("an interrupted verification", () => {
  const good = makeChain({ seed: 14, length: 60 })
  const file = async () => {
    const path = join(folder, "good")
    writeFileSync(path, await makePack(good, { kind: "full" }))
    return path
  }

  it("ends with the reason of an aborted signal", async () => {
    const early = AbortSignal.abort(new Error("no longer wanted"))
    await expect(verifyPackFile(await file(), { signal: early })).rejects.toThrow("no longer wanted")
    const path = join(folder, "long")
    writeFileSync(path, packOf([...linesOf(await makePack(good, { kind: "full" })), "x".repeat(3_000_000)]))
    const controller = new AbortController()
    const stopped = { signal: controller.signal, onProgress: () => controller.abort(new Error("enough")) }
    await expect(verifyPackFile(path, stopped)).rejects.toThrow("enough")
  })
})
