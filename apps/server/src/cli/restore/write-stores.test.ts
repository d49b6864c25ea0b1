/** A retired store that a restore finds in its place already. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { describeFile, type Manifest, retiredName, STORE } from "../backup/manifest.ts"
import { writeStores } from "./write-stores.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-write-stores-"))
afterAll(() => rmSync(scratch, { recursive: true }))

describe("a retired store that exists already, byte for byte", () => {
  it.each([
    ["absolute", (file: string) => file],
    ["relative", (file: string) => relative(process.cwd(), file)]
  ] as const)("stays, where the database's path is %s", async (name, named) => {
    const [from, to] = [join(scratch, name, "bk"), join(scratch, name, "to")]
    for (const folder of [from, to]) mkdirSync(folder, { recursive: true })
    // Neither is a store: what comes after the retired one ends the restore, and shows how far it came.
    writeFileSync(join(from, retiredName(1)), "retired")
    writeFileSync(join(to, "flyball.db.retired-1"), "retired")
    writeFileSync(join(from, STORE), "no store")
    const files = await Promise.all([retiredName(1), STORE].map((file) => describeFile(from, file)))
    const restored = writeStores(from, { files } as unknown as Manifest, {
      kind: "sqlite",
      file: named(join(to, "flyball.db"))
    })
    const cause = await restored.then(
      () => null,
      (error: unknown) => String(error)
    )
    assert.isNotNull(cause)
    assert.notInclude(cause, "ENOENT")
    assert.include(cause, "StorageCorrupt")
    assert.deepEqual(readdirSync(to), ["flyball.db.retired-1"])
  })
})
