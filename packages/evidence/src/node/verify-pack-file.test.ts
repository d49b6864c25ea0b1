/** Two pack files of one chain, compared at every size that both show. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { afterAll, describe, expect, it } from "vitest"
import { signatureLine } from "../note/note.ts"
import type { SamplePlan } from "../verify/sample-packs.ts"
import { sampleLog } from "../verify/sample-packs.ts"
import { nodeCrypto } from "./crypto.ts"
import { comparePackFiles } from "./verify-pack-file.ts"

const { pack, signer } = sampleLog(nodeCrypto)
const scratch = mkdtempSync(join(tmpdir(), "flyball-compare-"))
afterAll(() => rmSync(scratch, { recursive: true }))
const file = async (name: string, plan: SamplePlan): Promise<string> => {
  const path = join(scratch, name)
  writeFileSync(path, await pack(plan))
  return path
}
const put = (name: string, bytes: Uint8Array): string => {
  const path = join(scratch, name)
  writeFileSync(path, bytes)
  return path
}
const compared = async (one: string, other: string) => {
  const { comparison, report } = await comparePackFiles(one, other, { vkeys: [signer.vkey] })
  return [comparison.outcome, report.exit, ...report.findings.map(({ code }) => code)]
}

describe("two packs", () => {
  it("that differ at the size of an older checkpoint alone are a split view, in either order", async () => {
    const full = await file("full.evp", { length: 10 })
    const fork = await file("fork.evp", { length: 12, mark: "b", seqs: [8], older: 7 })
    expect(await compared(full, fork)).toEqual(["split view", 1, "E_SPLIT_VIEW"])
    expect(await compared(fork, full)).toEqual(["split view", 1, "E_SPLIT_VIEW"])
  })

  it("that agree there, and show no more, are not decided", async () => {
    const full = await file("full.evp", { length: 10 })
    const longer = await file("longer.evp", { length: 12, seqs: [8], older: 7 })
    expect(await compared(full, longer)).toEqual(["undecided", 2])
    expect(await compared(longer, full)).toEqual(["undecided", 2])
  })

  it("of one history are one, where the older checkpoint is the other's own", async () => {
    const full = await file("full.evp", { length: 10 })
    const longer = await file("longer.evp", { length: 12, seqs: [8], older: 10 })
    expect(await compared(full, longer)).toEqual(["one history", 0])
    expect(await compared(longer, full)).toEqual(["one history", 0])
  })
})

describe("a first pack whose checkpoints take more than one read", () => {
  it("is compared when it is compressed", async () => {
    const plain = await pack({ length: 10 })
    const longer = await file("longer.evp", { length: 12 })
    for (const one of [put("full.evp.gz", gzipSync(plain)), put("full.evp.zst", zstdCompressSync(plain))]) {
      expect(await compared(one, longer)).toEqual(["one history", 0])
    }
  })

  it("is compared when its head is larger than a read", async () => {
    const strangers = Array.from(
      { length: 99 },
      (_, n) => () => signatureLine(`${n}${"x".repeat(4000)}`, Uint8Array.of(0, 0, 0, n), new Uint8Array(64))
    )
    const large = await file("large.evp", { length: 10, lines: [signer.line, ...strangers] })
    expect(await compared(large, await file("longer.evp", { length: 12 }))).toEqual(["one history", 0])
  })

  it("is not readable when it is cut off, wherever that is", async () => {
    const plain = await pack({ length: 10, older: 4 })
    const longer = await file("longer.evp", { length: 12 })
    const zipped = gzipSync(plain)
    for (const [name, whole] of [
      ["cut.evp", plain],
      ["cut.evp.gz", zipped]
    ] as const) {
      for (const size of [0, 1, 9, 18, 30, 100, 300, 700, whole.length - 1]) {
        expect(await compared(put(name, whole.subarray(0, size)), longer)).toEqual(["undecided", 3, "E_FORMAT"])
        expect((await compared(longer, put(name, whole.subarray(0, size)))).slice(0, 2)).toEqual(["undecided", 3])
      }
    }
  })
})
