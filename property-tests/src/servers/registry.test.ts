/** Several processes on one Postgres: a key that was revoked, and the clock of the registry, one process killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { adminToken, flyball, type ServerProcess, startServer, type Variables } from "./server-process.ts"

let folder: string
const database = givenDatabase({ beforeAll: beforeEach, afterAll: afterEach })
let variables: Variables
let servers: ReadonlyArray<ServerProcess>
let admin: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyball-registry-"))
  variables = { FLYBALL_DATA_DIR: join(folder, "data"), FLYBALL_DATABASE_URL: database.url, FLYBALL_LOG_LEVEL: "error" }
  const first = await startServer(variables)
  servers = [first, ...await Promise.all([1, 2].map(() => startServer(variables)))]
  admin = await adminToken(variables)
}, 120_000)
afterEach(async () => {
  await Promise.all(servers.filter((server) => server.runs()).map((server) => server.stop("SIGKILL")))
  rmSync(folder, { recursive: true, force: true })
})

// oxlint-disable-next-line no-explicit-any
const call = async (server: ServerProcess, token: string, method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly json: any }> => {
  const response = await fetch(server.url + path, {
    method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, json: await response.json() }
}

describe("three servers on one Postgres", () => {
  it("refuse a revoked key from the next request on, each of them, also the one that starts after it was killed", { timeout: 120_000 }, async () => {
    const { json: { id, key } } = await call(servers[0]!, admin, "POST", "/api/v1/admin/ingest-keys", { name: "k", org_unit: "ops" })
    const statuses = (): Promise<ReadonlyArray<number>> => Promise.all(servers.map(async (server) => (await call(server, key, "GET", "/api/v1/me")).status))
    assert.deepStrictEqual(await statuses(), [200, 200, 200])
    assert.strictEqual((await call(servers[1]!, admin, "POST", `/api/v1/admin/ingest-keys/${id}/revoke`)).status, 200)
    assert.deepStrictEqual(await statuses(), [401, 401, 401])
    await servers[2]!.stop("SIGKILL")
    servers = [servers[0]!, servers[1]!, await startServer(variables)]
    assert.deepStrictEqual(await statuses(), [401, 401, 401])
  })

  it("suspend every orphan once a week has passed, once, and nobody else, though the process that does it is killed", { timeout: 240_000 }, async () => {
    const names = Array.from({ length: 120 }, (_, index) => ({ name: `agent ${index}`, org_unit: "ops", ...(index % 3 === 0 ? { owner_name: "Ada" } : {}) }))
    const made = await Promise.all(names.map(async (input, index) => (await call(servers[index % 3]!, admin, "POST", "/api/v1/agents", input)).json.id as string))
    const orphans = made.filter((_, index) => index % 3 !== 0).sort()
    await Promise.all(servers.map((server) => server.stop("SIGTERM")))

    assert.deepStrictEqual(await suspending(6).ended, { status: 0, suspended: 0 })
    const [killed, second, third] = [suspending(8), suspending(8), suspending(8)]
    await killed.ready
    killed.child.kill("SIGKILL")
    const after = await Promise.all([second.ended, third.ended])
    assert.deepStrictEqual(after.map(({ status }) => status), [0, 0])
    assert.strictEqual((await suspending(8).ended).suspended, 0, "nothing is left")

    servers = [await startServer(variables)]
    const records = (await call(servers[0]!, admin, "GET", "/api/v1/chain/records?kind=agent.suspended&limit=1000")).json as ReadonlyArray<{ readonly body: { readonly agent_id: string; readonly reason: string; readonly writer: string } }>
    assert.deepStrictEqual(records.map(({ body }) => body.agent_id).sort(), orphans)
    for (const { body } of records) assert.deepInclude(body, { reason: "orphan_grace", writer: "policy:orphan_grace" })
    await servers[0]!.stop("SIGTERM")
    assert.strictEqual((await flyball(["check"], variables)).status, 0)
  })
})

const program = fileURLToPath(new URL("./suspend-process.ts", import.meta.url))

/** A process so many days later that suspends what is due. `ready` is when it begins. */
const suspending = (days: number): { readonly child: ChildProcess; readonly ready: Promise<void>; readonly ended: Promise<{ readonly status: number | null; readonly suspended: number }> } => {
  const child = spawn(process.execPath, [program, database.url, join(folder, "data"), String(days)], { stdio: ["ignore", "pipe", "inherit"] })
  let last = ""
  const lines = createInterface(child.stdout)
  const ready = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      last = line
      resolve()
    })
  })
  const ended = new Promise<{ readonly status: number | null; readonly suspended: number }>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, suspended: Number(last) }))
  })
  return { child, ready, ended }
}
