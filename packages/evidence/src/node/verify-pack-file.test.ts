/** Two pack files of one chain, compared at every size that both show. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
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
