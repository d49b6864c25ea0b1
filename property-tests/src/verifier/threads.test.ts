/**
 * However many threads look, and whether records are checked one by one or many at a time: the report is the same in
 * every word.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { verifyPack } from "@flyball/evidence"
import type { VerifyFileOptions } from "@flyball/evidence/node"
import { CheckingThreadFailed, CheckThreads, nodeCrypto, verifyPackFile } from "@flyball/evidence/node"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import type { Chain } from "./chain.ts"
import { checkpointNote, makeChain, withRecord } from "./chain.ts"
import { chain as small, mutate, mutations } from "./mutations.ts"
import { linesOf, makePack, packOf, reseal } from "./packs.ts"
import { randomFrom } from "./random.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-threads-"))
const threads = new CheckThreads(1)
beforeAll(() => threads.ready)
afterAll(async () => {
  await threads[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

let files = 0
/**
 * Verifies line by line, by runs, in blocks of these sizes with another thread and alone, and from memory in one
 * reading; all reports must be equal.
 */
const sameFor = async (
  pack: Uint8Array,
  chain: Chain,
  blockSizes: ReadonlyArray<number>,
  options: VerifyFileOptions = {}
) => {
  const path = join(folder, `pack-${files++ % 8}`)
  writeFileSync(path, pack)
  const all = { vkeys: [chain.signer.vkey], file: "pack", ...options }
  const byLine = await verifyPackFile(path, { ...all, threads: 1, onRecord: () => undefined })
  expect(await verifyPackFile(path, { ...all, threads: 1 })).toEqual(byLine)
  for (const blockBytes of blockSizes) {
    expect(await verifyPackFile(path, { ...all, threads, blockBytes })).toEqual(byLine)
    expect(await verifyPackFile(path, { ...all, threads: 1, blockBytes })).toEqual(byLine)
  }
  // In memory nobody can look at the end first, and every part is remembered.
  if (!isCompressed(pack)) expect(await verifyPack(nodeCrypto, [pack], all)).toEqual(byLine)
  return byLine
}

const isCompressed = ([first]: Uint8Array): boolean => first === 0x1f || first === 0x28

describe("the tamper matrix in threads", () => {
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

  it("is good in every pack, compressed or not, and the other thread has its share of the work", async () => {
    const checked = vi.spyOn(threads, "check")
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
    const blocks = await Promise.all(
      checked.mock.results.map(({ value }) => value as ReturnType<CheckThreads["check"]>)
    )
    checked.mockRestore()
    expect(
      blocks.reduce((sum, block) => sum + (block?.runs ?? []).reduce((records, { run }) => records + run.count, 0), 0)
    ).toBeGreaterThan(500)
  })

  it("takes roots where they are wanted, and compares a trusted checkpoint", async () => {
    const pack = await makePack(chain, { kind: "full" })
    const report = await sameFor(pack, chain, [someSize(), 9000], {
      rootsAt: [1, 2, 63, 64, 65, 100, chain.records.length],
      trustedCheckpoint: checkpointNote(chain, 77)
    })
    expect([report.roots.size, report.verdicts.anchoring]).toEqual([8, "consistent_with_trusted_checkpoint"])
  })

  it("is as bad with any byte changed, left out or cut off", async () => {
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

  it("is as bad with records changed, moved or doubled and the pack signed again", async () => {
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

  it("is as bad with a record that says another seq or an earlier time, and everything after it sealed anew", async () => {
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

  it("is as bad when its compressed file is damaged", async () => {
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

it("an erased part that no line speaks of is counted, though the end of the file gives no sign of it", async () => {
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

describe("what may go wrong beside the pack", () => {
  const good = makeChain({ seed: 14, length: 60 })
  const file = async () => {
    const path = join(folder, "good")
    writeFileSync(path, await makePack(good, { kind: "full" }))
    return path
  }
  const program = (text: string) =>
    new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from "node:worker_threads"\n${text}`)}`)

  it.each([
    ["ends when it is asked", `parentPort.on("message", () => process.exit(0)); parentPort.postMessage("ready")`],
    [
      "throws when it is asked",
      `parentPort.on("message", () => { throw new Error("a fault of ours") }); parentPort.postMessage("ready")`
    ]
  ])("a thread that %s: no report, and a sentence that says why", async (_, text) => {
    await using dying = new CheckThreads(1, program(text))
    await dying.ready
    const checking = verifyPackFile(await file(), { vkeys: [good.signer.vkey], threads: dying, blockBytes: 2000 })
    await expect(checking).rejects.toThrow(CheckingThreadFailed)
    await expect(checking).rejects.toThrow(/nothing is said about the pack/)
  })

  it("a thread that never starts is not waited for", async () => {
    await using mute = new CheckThreads(1, program("setInterval(() => {}, 1e6)"))
    expect(
      await verifyPackFile(await file(), { vkeys: [good.signer.vkey], threads: mute, blockBytes: 2000 })
    ).toMatchObject({ exit: 0 })
  })

  it("a run that a thread made up is not believed where it does not join", async () => {
    // It says of every block what is true of another chain.
    await using liar = new CheckThreads(
      1,
      program(`parentPort.on("message", ({ bytes }) => {
      const run = { count: 5, length: 10, firstSeq: 7, firstPrev: new Uint8Array(32), firstAtMs: 0, lastAtMs: 0, lastLeaf: new Uint8Array(32), subtrees: [], partCount: 0, parts: null }
      parentPort.postMessage({ bytes, run, runs: [{ at: 0, run }, { at: 7, run }] }, [bytes.buffer])
    }); parentPort.postMessage("ready")`)
    )
    await liar.ready
    expect(
      await verifyPackFile(await file(), { vkeys: [good.signer.vkey], threads: liar, blockBytes: 2000 })
    ).toMatchObject({ exit: 0, findings: [] })
  })

  it("an aborted signal ends the reading with its reason, with threads and without", async () => {
    for (const how of [1, threads] as const) {
      const early = AbortSignal.abort(new Error("no longer wanted"))
      await expect(verifyPackFile(await file(), { threads: how, signal: early })).rejects.toThrow("no longer wanted")
      const path = join(folder, "long")
      writeFileSync(path, packOf([...linesOf(await makePack(good, { kind: "full" })), "x".repeat(3_000_000)]))
      const controller = new AbortController()
      await expect(
        verifyPackFile(path, {
          threads: how,
          blockBytes: 2000,
          signal: controller.signal,
          onProgress: () => controller.abort(new Error("enough"))
        })
      ).rejects.toThrow("enough")
    }
  })
})
