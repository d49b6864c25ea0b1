import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { makeNextKey, readKeys } from "./key-files.ts"
import { openFolder } from "./open-folder.ts"
import { renameOrigin } from "./rename-origin.ts"

const OLD = "flyball.example/acme"
const NEW = "flyball.example/acme~2"

let dir: string
beforeEach(async () => {
  dir = join(mkdtempSync(join(tmpdir(), "flyball-rename-")), "data")
  await openFolder({ dir, origin: OLD })
})
afterEach(() => rmSync(join(dir, ".."), { recursive: true }))

const text = (name: string): string => readFileSync(join(dir, name), "utf8")

describe("renaming the origin of a data folder", () => {
  it("keeps the key, and says the new name everywhere", async () => {
    const before = (await openFolder({ dir })).key
    await renameOrigin(dir, NEW)
    const { key } = await openFolder({ dir, origin: NEW })
    assert.deepEqual([key.origin, key.seed], [NEW, before.seed])
    assert.deepEqual([text("origin"), text("vkey")], [`${NEW}\n`, `${key.vkey}\n`])
    assert.notStrictEqual(key.vkey, before.vkey)
    assert.strictEqual(statSync(join(dir, "signing.key")).mode & 0o077, 0)
    assert.deepEqual(
      readdirSync(dir)
        .filter((name) => !name.startsWith("unused-"))
        .sort(),
      ["guard", "origin", "signing.key", "vkey"]
    )
  })

  it("may be done again", async () => {
    await renameOrigin(dir, NEW)
    const first = text("signing.key")
    await renameOrigin(dir, NEW)
    assert.strictEqual(text("signing.key"), first)
  })

  it("leaves a folder that opens, whichever files a crash on the way left", async () => {
    const done = join(dir, "..", "done")
    cpSync(dir, done, { recursive: true })
    await renameOrigin(done, NEW)
    for (const key of [dir, done]) {
      for (const gone of [["origin"], ["vkey"], ["origin", "vkey"]]) {
        const crashed = join(dir, "..", "crashed")
        cpSync(key, crashed, { recursive: true })
        for (const name of gone) rmSync(join(crashed, name))
        assert.strictEqual((await openFolder({ dir: crashed })).key.origin, key === dir ? OLD : NEW)
        await renameOrigin(crashed, NEW)
        assert.strictEqual((await openFolder({ dir: crashed })).key.vkey, (await openFolder({ dir: done })).key.vkey)
        rmSync(crashed, { recursive: true })
      }
    }
  })

  it("drops a key that was waiting to follow under the old name", async () => {
    await makeNextKey(dir)
    await renameOrigin(dir, NEW)
    assert.isNull((await readKeys(dir)).next)
    assert.deepEqual(
      readdirSync(dir)
        .filter((name) => !name.startsWith("unused-"))
        .sort(),
      ["guard", "origin", "signing.key", "vkey"]
    )
  })

  it("refuses what is no origin, and changes nothing then", async () => {
    const before = text("signing.key")
    const cause: unknown = await renameOrigin(dir, "two words").catch((error: unknown) => error)
    assert.match(String(cause), /two words/)
    assert.strictEqual(text("signing.key"), before)
  })
})
