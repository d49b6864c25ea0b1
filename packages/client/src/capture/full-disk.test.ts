/** A disk that takes half of a line. */
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import type * as Files from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import type { Entry } from "./entry.ts"
import { fileSpool } from "./file-spool.ts"

const disk = { isFull: false, mayTruncate: true, open: 0 }

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof Files>()
  const open: typeof Files.open = async (path, ...more) => {
    const handle = await real.open(path, ...more)
    const append = handle.appendFile.bind(handle)
    const truncate = handle.truncate.bind(handle)
    const write = handle.writeFile.bind(handle)
    const close = handle.close.bind(handle)
    disk.open++
    handle.close = async () => {
      disk.open--
      await close()
    }
    handle.writeFile = (data) => (disk.isFull ? Promise.reject(new Error("ENOSPC")) : write(data))
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
  Object.assign(disk, { isFull: false, mayTruncate: true, open: 0 })
  rmSync(dir, { recursive: true, force: true })
})

const entry = (ref: string): Entry => ({
  kind: "decision",
  agentId: "agt_1",
  decision: { client_ref: ref, action: "act" }
})

describe("a spool on a full disk", () => {
  it("closes the file of the gaps where it cannot be written", async () => {
    const spool = fileSpool(dir)
    disk.isFull = true
    const failed = await spool.setGaps([]).catch(String)
    assert.match(String(failed), /ENOSPC/)
    assert.strictEqual(disk.open, 0)
    await spool.close()
  })

  it("can be opened again after an opening that failed", async () => {
    mkdirSync(join(dir, "000000000001.ndjson"))
    assert.throws(() => fileSpool(dir), /EISDIR/)
    rmdirSync(join(dir, "000000000001.ndjson"))
    await fileSpool(dir).close()
  })

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
      assert.deepStrictEqual(
        readdirSync(dir).filter((name) => name.endsWith(".ndjson")),
        ["000000000001.ndjson"]
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
