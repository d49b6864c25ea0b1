import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeAll(async () => {
  me = operator()
  await me.flyball(["vkey"])
})
afterAll(() => me.leave())

const opening = [["serve"], ["check"], ["import", starterFile], ["export", "--kind", "full", "--out", "a.evp"]]

/** The sentence that each command gives about a store; they all give the same one. */
const refusals = async (url: string, commands = opening): Promise<ReadonlyArray<string>> =>
  Promise.all(
    commands.map(async (args) => {
      const { err, out, status } = await me.flyball(args, { FLYBALL_DATABASE_URL: url })
      assert.deepEqual([status, out], [1, ""], err)
      assert.match(err, /^flyball [a-z]+: [^\n]+\.\n$/)
      return err
    })
  )

const all = (errors: ReadonlyArray<string>, words: string): void =>
  errors.forEach((error) => assert.include(error, words))

describe("a store that cannot be opened", () => {
  it("is a file of another format", async () => {
    writeFileSync(me.path("text.db"), "this is no database, though it is long enough to be the start of one")
    all(await refusals("sqlite:text.db"), "text.db is not a SQLite database")
  })
  it("is a folder", async () => {
    mkdirSync(me.path("folder.db"))
    all(await refusals("sqlite:folder.db"), "folder.db is a folder")
  })
  it("is the database of another program", async () => {
    const db = new DatabaseSync(me.path("foreign.db"))
    db.exec("CREATE TABLE people (name TEXT)")
    db.close()
    all(
      await refusals("sqlite:foreign.db"),
      "foreign.db was not opened: the file is a SQLite database of another program"
    )
  })
  it("has a newer schema", async () => {
    const server = await me.serve({ FLYBALL_DATABASE_URL: "sqlite:newer.db" })
    await server.stop("SIGTERM")
    const db = new DatabaseSync(me.path("newer.db"))
    db.exec("PRAGMA user_version = 99")
    db.close()
    all(await refusals("sqlite:newer.db"), "the file has schema 99")
  })
  it("does not exist, or has a file as its folder", async () => {
    const before = readdirSync(me.folder)
    all(await refusals("sqlite:none/a.db", [["check"]]), "there is no store at ")
    writeFileSync(me.path("file"), "")
    all(await refusals("sqlite:file/a.db", [["serve"]]), "file is a file. FLYBALL_DATABASE_URL names it")
    all(await refusals("sqlite:file/deep/a.db", [["serve"]]), "cannot be created")
    assert.deepEqual(readdirSync(me.folder), [...before, "file"].sort())
  })
  it("lives in another process's memory", async () => {
    all(
      await refusals("sqlite::memory:", [["check"], ["export", "--kind", "full", "--out", "a.evp"]]),
      "Ask the server over HTTP"
    )
    all(await refusals("sqlite::memory:", [["import", starterFile]]), "nothing would be left")
    all(await refusals("sqlite::memory:", [["vkey"]]), "GET /api/v1/chain/keys")
  })
})
