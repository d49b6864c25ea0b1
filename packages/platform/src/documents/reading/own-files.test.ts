import { assert, it } from "vitest"
import { Effect } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { documentFolder, newFile, ownFile } from "./own-files.ts"

it("documents are kept also where the host has tidied the folder away", async () => {
  const received = mkdtempSync(join(tmpdir(), "flyball-received-"))
  const put = {
    new: (folder: string) => newFile(folder, "a", Buffer.from("new")).path,
    own: (folder: string) => {
      writeFileSync(join(received, "body"), "own")
      return ownFile(folder, "a", join(received, "body"))
    }
  }
  for (const [text, into] of Object.entries(put)) {
    // Its scope has removed it.
    const folder = await Effect.runPromise(Effect.scoped(documentFolder))
    assert.strictEqual(readFileSync(into(folder), "utf8"), text)
    rmSync(folder, { recursive: true })
  }
  rmSync(received, { recursive: true })
})

it("no document is put into a folder that others may read, or behind a link", () => {
  const base = mkdtempSync(join(tmpdir(), "flyball-own-files-"))
  const folder = join(base, "documents")
  const put = (id: string) => newFile(folder, id, new Uint8Array(3)).path
  assert.strictEqual(put("a"), join(folder, "a"))
  assert.strictEqual(put("b"), join(folder, "b"))
  chmodSync(folder, 0o777)
  assert.throws(() => put("c"), /belongs to somebody else/)
  rmSync(folder, { recursive: true })
  mkdirSync(join(base, "other"), { mode: 0o700 })
  symlinkSync(join(base, "other"), folder)
  assert.throws(() => put("d"), /belongs to somebody else/)
  rmSync(base, { recursive: true })
})
