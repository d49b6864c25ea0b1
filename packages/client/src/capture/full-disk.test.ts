/** A disk that takes half of a line. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import type * as Files from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import type { Entry } from "./entry.ts"
import { fileSpool } from "./file-spool.ts"

const disk = { isFull: false, mayTruncate: true }

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof Files>()
  const open: typeof Files.open = async (path, ...more) => {
    const handle = await real.open(path, ...more)
    const append = handle.appendFile.bind(handle)
    const truncate = handle.truncate.bind(handle)
    handle.appendFile = async (data) => {
      if (!disk.isFull) return append(data)
      appendFileSync(String(path), String(data).slice(0, 20))
      throw new Error("ENOSPC: no space left on device, write")
    }
    handle.truncate = (length) => (disk.mayTruncate ? truncate(length) : Promise.reject(new Error("EIO")))
    return handle
  }
  return { ...real, open }
})

let dir: string
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), "flyball-full-"))))
afterEach(() => {
  Object.assign(disk, { isFull: false, mayTruncate: true })
  rmSync(dir, { recursive: true, force: true })
})

const entry = (ref: string): Entry => ({
  kind: "decision",
  agentId: "agt_1",
  decision: { client_ref: ref, action: "act" }
})

describe("a spool on a full disk", () => {
  for (const mayTruncate of [true, false])
    it(`keeps what comes after what it could not, where half a line ${mayTruncate ? "goes" : "stays"}`, async () => {
      disk.mayTruncate = mayTruncate
      const spool = fileSpool(dir)
      await spool.add(entry("a"))
      disk.isFull = true
      for (const ref of ["b", "c"])
        await spool.add(entry(ref)).then(
          () => assert.fail("it was kept"),
          (cause) => assert.match(String(cause), /ENOSPC/)
        )
      disk.isFull = false
      await spool.add(entry("d"))
      assert.strictEqual(spool.size(), 2)
      await spool.close()
      const again = fileSpool(dir)
      assert.deepStrictEqual(
        (await again.first(9)).map((one) => (one.kind === "decision" ? one.decision.client_ref : "")),
        ["a", "d"]
      )
      await again.remove(2)
      await again.close()
    })
})
