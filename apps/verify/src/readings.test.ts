/** Readings of a pack find together what each finds alone. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { checkPack, type CheckRequest } from "./check-pack.ts"
import { nodePackFile } from "./node-pack-file.ts"
import { verifyPackOf } from "./pack-file.ts"
import { sampleApproval, samplePack, sampleRecords, sampleVkey } from "./summary/sample-chain.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-readings-"))
afterAll(() => rmSync(scratch, { recursive: true }))

describe("readings of a pack", () => {
  it("find together what each of them finds alone, in one reading of its records", async () => {
    const file = join(scratch, "sample.evp")
    writeFileSync(file, await samplePack([...sampleRecords(), ...sampleApproval]))
    let begun = 0
    const open = nodePackFile(file)
    const pack = {
      ...open,
      content: () => {
        begun++
        return open.content()
      }
    }
    const all = {
      replay: true,
      bodies: true,
      summary: "required" as const,
      certificate: `kil_${"0".repeat(26)}`,
      usage: { fromMs: 0, toMs: Date.UTC(2100, 0) }
    }
    const check = (some: Partial<CheckRequest>) =>
      checkPack({
        pack,
        verify: async () => ({ report: await verifyPackOf(pack, { vkeys: [sampleVkey] }), splitView: null }),
        previous: [],
        replay: false,
        bodies: false,
        summary: "none",
        ...some
      })
    const alone = await Promise.all(Object.entries(all).map(([name, value]) => check({ [name]: value })))
    await check({})
    const [before, plain] = [begun, await check({}).then(() => begun)]
    const { extras } = await check(all)
    expect(withoutNull(extras)).toEqual(Object.assign({}, ...alone.map((one) => withoutNull(one.extras))))
    // For replay record 0 and all parts; then records and parts side by side.
    expect(begun - plain - (plain - before)).toBe(4)
  })
})

const withoutNull = (extras: object): object =>
  Object.fromEntries(Object.entries(extras).filter(([, found]) => found !== null))
