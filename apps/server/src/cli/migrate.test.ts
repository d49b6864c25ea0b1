import { existsSync, readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
beforeAll(async () => {
  me = operator()
})
afterAll(async () => {
  await me.leave()
})

describe("flyball migrate", () => {
  it("says on SQLite what it would do and touches nothing, does it, and says when there is nothing to do", async () => {
    const dry = await me.flyball(["migrate", "--dry-run"])
    assert.deepEqual(dry, {
      status: 0,
      out: "Would run 0001 store. Older processes: no other process writes a SQLite file.\n",
      err: ""
    })
    assert.deepEqual(readdirSync(me.folder), [])
    assert.deepEqual(await me.flyball(["migrate"]), {
      status: 0,
      out: "Ran 0001 store. Older processes: no other process writes a SQLite file.\n",
      err: ""
    })
    assert.deepEqual(readdirSync(me.folder), [".flyball"])
    assert.include(readdirSync(me.path(".flyball")), "flyball.db")
    const bytes = readFileSync(me.path(".flyball/flyball.db"))
    const before = readdirSync(me.path(".flyball"))
    for (const args of [["migrate", "--dry-run"], ["migrate"]]) {
      const again = await me.flyball(args)
      assert.deepEqual(
        [again.status, again.out],
        [0, `${me.path(".flyball/flyball.db")} has this version's schema: nothing to do.\n`],
        again.err
      )
      if (args.length > 1)
        assert.deepEqual(
          [readdirSync(me.path(".flyball")), readFileSync(me.path(".flyball/flyball.db")).equals(bytes)],
          [before, true]
        )
    }
  })

  it("beside a server on SQLite finds nothing to do, and the server continues", async () => {
    const server = await me.serve()
    assert.deepEqual(await me.flyball(["migrate"]), {
      status: 0,
      out: `${me.path(".flyball/flyball.db")} has this version's schema: nothing to do.\n`,
      err: ""
    })
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "a", org_unit: "u" })).status, 201)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
  })

  it("does the same on Postgres, beside servers", async () => {
    const variables = { FLYBALL_DATABASE_URL: database.url }
    const dry = await me.flyball(["migrate", "--dry-run"], variables)
    assert.deepEqual(dry, {
      status: 0,
      out: "Would run 0001 store. Older processes: there are none.\n",
      err: ""
    })
    for (const args of [["check"], ["export", "--kind", "full", "--out", "a.evp"], ["backup", "--out", "b"]]) {
      const missing = await me.flyball(args, variables)
      assert.strictEqual(missing.status, 1)
      assert.include(
        missing.err,
        "the database has no store in its schema flyball, and it was opened for reading only; start the server once"
      )
    }
    assert.strictEqual(
      (await me.flyball(["migrate", "--dry-run"], variables)).out,
      dry.out,
      "commands that read made nothing"
    )
    assert.strictEqual(
      (await me.flyball(["migrate"], variables)).out,
      "Ran 0001 store. Older processes: there are none.\n"
    )
    const nothing = await me.flyball(["migrate"], variables)
    assert.match(
      nothing.out,
      /^the database flyball_test_\w+ at 127\.0\.0\.1:\d+ has this version's schema: nothing to do\.\n$/
    )
  })

  it("refuses a newer store, one in memory, and flags it does not know", async () => {
    const db = new DatabaseSync(me.path(".flyball/flyball.db"))
    db.exec("PRAGMA user_version = 99")
    db.close()
    for (const args of [["migrate", "--dry-run"], ["migrate"]]) {
      const { err, out, status } = await me.flyball(args)
      assert.deepEqual([status, out], [1, ""])
      assert.match(err, /the file has schema 99 and this version of Flyball knows 1; use the newer version/)
    }
    assert.match((await me.flyball(["migrate"], { FLYBALL_DATABASE_URL: "sqlite::memory:" })).err, /nothing to migrate/)
    assert.strictEqual((await me.flyball(["migrate", "--dry"])).status, 2)
    const nowhere = await me.flyball(["migrate", "--dry-run"], { FLYBALL_DATA_DIR: "nowhere" })
    assert.deepEqual([nowhere.status, existsSync(me.path("nowhere"))], [0, false])
  })
})
