import { assert, it } from "vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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
