/** Several processes on one Postgres: a key that was revoked, and the clock of the registry, one process killed. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { replacePostgresClock } from "@flyball/storage-sql/testing"
import { givenDatabase, openDatabase } from "@flyball/testkit/postgres"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type JobsProcess, startJobs } from "./jobs-process.ts"
import { adminToken, flyball, type ServerProcess, startServer, type Variables } from "./server-process.ts"

const MINUTE_MS = 60_000
/** So many that the process which suspends them is far from done when it is seen to have begun. */
const AGENTS = 600

let folder: string
const database = givenDatabase({ beforeAll: beforeEach, afterAll: afterEach })
let variables: Variables
let servers: ReadonlyArray<ServerProcess>
let jobs: Array<JobsProcess>
let admin: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyball-registry-"))
  variables = { FLYBALL_DATA_DIR: join(folder, "data"), FLYBALL_DATABASE_URL: database.url, FLYBALL_LOG_LEVEL: "error" }
  const first = await startServer(variables)
  servers = [first, ...(await Promise.all([1, 2].map(() => startServer(variables))))]
  admin = await adminToken(variables)
  jobs = []
}, 120_000)
afterEach(async () => {
  await Promise.all(servers.filter((server) => server.runs()).map((server) => server.stop("SIGKILL")))
  for (const job of jobs) job.send("SIGKILL")
  await Promise.all(jobs.map((job) => job.stop()))
  rmSync(folder, { recursive: true, force: true })
})

// oxlint-disable-next-line no-explicit-any
const call = async (
  server: ServerProcess,
  token: string,
  method: string,
  path: string,
  body?: unknown
): Promise<{ readonly status: number; readonly json: any }> => {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, json: await response.json() }
}

describe("three servers on one Postgres", () => {
  it(
    "each refuse a revoked key from the next request on, even after a kill and a restart",
    { timeout: 120_000 },
    async () => {
      const {
        json: { id, key }
      } = await call(servers[0]!, admin, "POST", "/api/v1/admin/ingest-keys", { name: "k", org_unit: "ops" })
      const statuses = (): Promise<ReadonlyArray<number>> =>
        Promise.all(servers.map(async (server) => (await call(server, key, "GET", "/api/v1/me")).status))
      assert.deepStrictEqual(await statuses(), [200, 200, 200])
      assert.strictEqual((await call(servers[1]!, admin, "POST", `/api/v1/admin/ingest-keys/${id}/revoke`)).status, 200)
      assert.deepStrictEqual(await statuses(), [401, 401, 401])
      await servers[2]!.stop("SIGKILL")
      servers = [servers[0]!, servers[1]!, await startServer(variables)]
      assert.deepStrictEqual(await statuses(), [401, 401, 401])
    }
  )

  it(
    "suspend exactly the orphans of a week, once each, although the process that does it is killed",
    { timeout: 240_000 },
    async () => {
      const names = Array.from({ length: AGENTS }, (_, index) => ({
        name: `agent ${index}`,
        org_unit: "ops",
        ...(index % 3 === 0 ? { owner_name: "Ada", owner_email: "ada@example.org" } : {})
      }))
      const made = await Promise.all(
        names.map(
          async (input, index) =>
            (await call(servers[index % 3]!, admin, "POST", "/api/v1/agents", input)).json.id as string
        )
      )
      const orphans = made.filter((_, index) => index % 3 !== 0).sort()
      await Promise.all(servers.map((server) => server.stop("SIGTERM")))

      const early = later(6)
      assert.deepStrictEqual([await early.polled, await early.stop()], [0, 0])
      // Leases go by the database's clock. From here on it stands, so that they run out when this says so, however long
      // a machine takes.
      const clock = await replacePostgresClock(database.url)
      const atMs = Date.now()
      await clock.set(atMs)

      const killed = later(8)
      await killed.begun
      // As it lies there it lives, in the midst of whatever it was doing, and its lease with it.
      killed.send("SIGSTOP")
      const others = [later(8), later(8)]
      assert.deepStrictEqual(await Promise.all(others.map(({ polled }) => polled)), [0, 0], "one process at a time")
      killed.send("SIGKILL")
      assert.strictEqual(await killed.stop(), "SIGKILL")
      assert.deepStrictEqual(await Promise.all(others.map(({ poll }) => poll())), [0, 0], "nobody gave its lease back")
      const done = await suspendedAgents()
      assert.isAbove(done, 0)
      assert.isBelow(done, orphans.length, "it was killed in the midst of it")

      await clock.set(atMs + MINUTE_MS)
      const counts = await Promise.all(others.map(({ poll }) => poll()))
      assert.deepStrictEqual(
        counts.toSorted((a, b) => a - b),
        [0, orphans.length - done],
        "one of the others does what is left"
      )
      assert.deepStrictEqual(await Promise.all(others.map(({ stop }) => stop())), [0, 0])
      const last = later(8)
      assert.deepStrictEqual([await last.polled, await last.stop()], [0, 0], "nothing is left")

      servers = [await startServer(variables)]
      const records = (await call(servers[0]!, admin, "GET", "/api/v1/chain/records?kind=agent.suspended&limit=1000"))
        .json as ReadonlyArray<{
        readonly body: { readonly agent_id: string; readonly reason: string; readonly writer: string }
      }>
      assert.deepStrictEqual(records.map(({ body }) => body.agent_id).sort(), orphans)
      for (const { body } of records)
        assert.deepInclude(body, { reason: "orphan_grace", writer: "policy:orphan_grace" })
      await servers[0]!.stop("SIGTERM")
      assert.strictEqual((await flyball(["check"], variables)).status, 0)
    }
  )
})

/** The jobs of a server, so many days later. */
const later = (days: number): JobsProcess => {
  const started = startJobs(database.url, join(folder, "data"), days)
  jobs.push(started)
  return started
}

const suspendedAgents = async (): Promise<number> => {
  const sql = await openDatabase(database.url)
  const [row] = await sql
    .ask("select count(*)::int as n from flyball.records where kind = 'agent.suspended'")
    .finally(sql.close)
  return row!["n"] as number
}
