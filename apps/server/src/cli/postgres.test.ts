import * as PgConnection from "@effect/sql-pg/PgConnection"
import { freshDatabase, givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
let inDatabase: { readonly FLYBALL_DATABASE_URL: string }

beforeAll(async () => {
  me = operator()
  inDatabase = { FLYBALL_DATABASE_URL: database.url }
})
afterAll(async () => {
  await me.leave()
})

/** Runs statements behind Flyball's back. */
const run = (url: string, statements: ReadonlyArray<string>): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* PgConnection.make({ url: Redacted.make(url) })
        for (const statement of statements) yield* connection.query(statement, [], false)
      })
    )
  )

/** The server's address with other parts. */
const address = (change: (url: URL) => void): { readonly FLYBALL_DATABASE_URL: string } => {
  const url = new URL(database.url)
  change(url)
  return { FLYBALL_DATABASE_URL: url.href }
}

describe("on Postgres", () => {
  it("two servers, an import, a check and an export share one store", async () => {
    const [first, second] = [await me.serve(inDatabase), await me.serve(inDatabase)]
    const imported = await me.flyball(["import", starterFile], inDatabase)
    assert.deepEqual(imported, { status: 0, out: "296 decisions of 3 agents: 296 new, 0 already recorded.\n", err: "" })
    assert.strictEqual((await second.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    const [check, exported, vkey] = await Promise.all([
      me.flyball(["check"], inDatabase),
      me.flyball(["export", "--kind", "full", "--out", "a.evp"], inDatabase),
      me.flyball(["vkey"], inDatabase)
    ])
    assert.deepEqual([check.status, check.err, exported.status], [0, "", 0])
    assert.match(
      check.out,
      new RegExp(
        /^Chain: 30\d records recomputed from the stored bytes; no difference; the /.source +
          /last checkpoint covers 30\d records\.\n/.source
      )
    )
    assert.strictEqual((await me.verify("a.evp", "--vkey", vkey.out.trim(), "--quiet")).status, 0)
    const ends = await Promise.all([first.stop("SIGTERM"), second.stop("SIGINT")])
    assert.deepEqual(
      ends.map(({ status }) => status),
      [0, 0]
    )
    const otherKeys = await me.flyball(["serve"], { ...inDatabase, FLYBALL_DATA_DIR: "elsewhere" })
    assert.strictEqual(otherKeys.status, 1)
    assert.match(otherKeys.err, /^flyball serve: the store holds the chain of flyball\.local\/\w+, [^\n]+\n$/)
  })

  it("a check names the records whose idempotency keys were changed", async () => {
    const own = await freshDatabase(database.url)
    const copy = operator()
    try {
      const there = { FLYBALL_DATABASE_URL: own.url }
      assert.strictEqual((await copy.flyball(["import", starterFile], there)).status, 0)
      await run(own.url, [
        "DELETE FROM flyball.once WHERE seq = 10",
        "UPDATE flyball.once SET digest = decode(repeat('00', 32), 'hex') WHERE seq = 11",
        "UPDATE flyball.once SET digest = '' WHERE seq = 12",
        "UPDATE flyball.once SET seq = 14 WHERE seq = 13",
        "INSERT INTO flyball.once (scope, key, seq, digest) SELECT scope, 'never sent', seq, digest FROM " +
          "flyball.once WHERE seq = 15"
      ])
      const { out, status } = await copy.flyball(["check"], there)
      assert.strictEqual(status, 1)
      assert.include(
        out,
        "\nIdempotency: 296 keys compared with the records that took them; 5 differences.\nDifferences:\n" +
          "  record 10: the records say an idempotency key, the table no row\n" +
          "  record 11 /digest: the records say the digest of the request, the table another digest\n" +
          "  record 12 /digest: the records say the digest of the request, the table none\n" +
          "  record 13 /seq: the records say 13, the table 14\n" +
          "  record 15: the records say no row of this key, the table a row\nNot compared:\n"
      )
    } finally {
      await copy.leave()
      await own.drop()
    }
  })

  it.each<[string, (url: URL) => void, string]>([
    ["a wrong password", (url) => (url.password = "hunter2"), "it refused the password"],
    ["an unknown role", (url) => (url.username = "nobody-here"), "it refused the "],
    ["an unknown database", (url) => (url.pathname = "/no_such_database"), "the database does not exist; create it"],
    [
      "a closed port",
      (url) => (url.port = "1"),
      "Postgres did not answer (ECONNREFUSED); check that it runs and can be reached"
    ],
    ["an unknown host", (url) => (url.hostname = "no-such-host.invalid"), "Postgres did not answer ("]
  ])("%s is one sentence without the password", async (_name, change, words) => {
    const variables = address(change)
    const password = new URL(variables.FLYBALL_DATABASE_URL).password
    const { err, out, status } = await me.flyball(["serve"], variables)
    assert.deepEqual([status, out], [1, ""])
    assert.match(err, /^(flyball: a new chain's signing key was created in [^\n]+\n)?flyball serve: [^\n]+\.\n$/)
    assert.include(err, words)
    if (password !== "") assert.notInclude(err, password)
  })

  it("a % that is not written as %25 is found before anything is opened", async () => {
    const { err, status } = await me.flyball(["check"], { FLYBALL_DATABASE_URL: "postgres://u:hunter%2@h/d" })
    assert.deepEqual(
      [status, err],
      [
        1,
        "flyball check: the settings cannot be used:\n" +
          "  FLYBALL_DATABASE_URL should be postgres://user:password@host:port/database, with % in the " +
          "password written as %25.\n"
      ]
    )
  })
})
