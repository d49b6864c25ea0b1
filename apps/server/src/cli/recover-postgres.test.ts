import { freshDatabase, type FreshDatabase, openDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

const serverUrl = process.env["FLYBALL_TEST_PG_URL"]
const ORIGIN = "flyball.example/acme/pg"

let me: Operator
let database: FreshDatabase
/** The database as it was copied before the last agent came. */
let copy: { readonly FLYBALL_DATABASE_URL: string }

/** Starts a server, registers an agent of this name, and stops it. */
const register = async (variables: { readonly [name: string]: string }, name: string): Promise<void> => {
  const server = await me.serve(variables)
  const { status } = await server.call("POST", "/api/v1/agents", { name, org_unit: "support" })
  assert.deepEqual([status, (await server.stop("SIGTERM")).status], [201, 0])
}

beforeAll(async () => {
  if (serverUrl === undefined)
    throw new Error("FLYBALL_TEST_PG_URL should name a Postgres server. Run the tests with npm test, which starts one")
  me = operator()
  database = await freshDatabase(serverUrl)
  await register({ FLYBALL_DATABASE_URL: database.url, FLYBALL_ORIGIN: ORIGIN }, "first")
  const url = new URL(database.url)
  const name = url.pathname.slice(1)
  const { ask, close } = await openDatabase(serverUrl)
  await ask(`create database ${name}_copy template ${name}`).finally(close)
  url.pathname = `/${name}_copy`
  copy = { FLYBALL_DATABASE_URL: url.href }
  await register({ FLYBALL_DATABASE_URL: database.url }, "second")
}, 120_000)
afterAll(async () => {
  await me.leave()
  const { ask, close } = await openDatabase(serverUrl!)
  await ask(`drop database if exists ${new URL(copy.FLYBALL_DATABASE_URL).pathname.slice(1)} with (force)`).finally(
    close
  )
  await database.drop()
})

describe("flyball recover on Postgres", () => {
  it("puts the schema aside and continues in a new one", async () => {
    const { err, out, status } = await me.flyball(
      ["recover", "--accept-rollback", "--reason", "the standby lagged behind"],
      copy
    )
    assert.deepEqual([status, err], [0, ""])
    assert.match(
      out,
      new RegExp(
        `^Recovered: \\d+ records of ${ORIGIN} were signed, and the store holds \\d+, so 1 record is lost, ` +
          `of which others may have evidence\\. .*\nMeters continue from the old chain's records.*\n` +
          `Pending webhook deliveries are not sent.*\nThe chain continues as ` +
          `${ORIGIN}~2-[0-9a-f]{8}\\.`
      )
    )
    await register(copy, "second")
    const check = await me.flyball(["check"], copy)
    assert.deepEqual([check.status, check.err], [0, ""], check.out)
    assert.match(
      check.out,
      new RegExp(
        `\nRetired: ${ORIGIN}, \\d+ records recomputed; as the next chain records them\\.\n.* no difference\\.\n` +
          "Idempotency: \\d+ keys [^\\n]+; no difference\\.\nNot compared:\n"
      )
    )
  })
})
