/** The platform API over HTTP: limited against unlimited requests, repeated against fresh ones. Spec: document 2. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"
import { CONNECTIONS, Connections, type Request, startFlyball } from "./server-process.ts"

const REQUESTS = 4_000
const WARM_UP = 20_000
const POSTS = 1_000
const ROUNDS = 7
const GOAL = 0.75

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "platform",
  about:
    "GET /v1/usage with a key that has a minute's and a day's limit against one without, and POST of an agent " +
    `repeated under one Idempotency-Key against fresh ones, over ${CONNECTIONS} connections, ${ROUNDS} rounds in ` +
    "turn, by the clock, on SQLite and on Postgres",
  run: async () => {
    const postgres = await startPostgres()
    const lines: Array<Line> = []
    try {
      for (const backend of ["sqlite", "postgres"] as const) {
        const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
        const url = backend === "sqlite" ? undefined : (await freshDatabase(postgres.url)).url
        const server = await startFlyball(folder, url)
        try {
          lines.push(...(await measured(backend, server)))
        } finally {
          await server.server.stop()
          rmSync(folder, { recursive: true, force: true })
        }
      }
    } finally {
      await postgres.stop()
    }
    return lines
  }
}

const measured = async (
  backend: string,
  { key, server: { port }, token }: Awaited<ReturnType<typeof startFlyball>>
): Promise<ReadonlyArray<Line>> => {
  const mint = async (limits: object): Promise<Connections> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/admin/platform-keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "bench", org_unit: "bench", plan: "custom", scopes: ["*"], limits })
    })
    const minted = (await response.json()) as { readonly key: string }
    return new Connections({ port, headers: { authorization: `Bearer ${minted.key}` }, expects: 200 })
  }
  const [limited, unlimited] = [
    await mint({ requests_per_minute: 1_000_000, requests_per_day: 1_000_000_000 }),
    await mint({})
  ]
  const get: Request = { method: "GET", path: "/v1/usage", body: null }
  const gets = (count: number) => Array.from({ length: count }, () => get)
  for (const to of [limited, unlimited]) await to.load(gets(WARM_UP))
  const read = await alternate(
    ROUNDS,
    () => unlimited.load(gets(REQUESTS)),
    () => limited.load(gets(REQUESTS))
  )

  const agents = new Connections({ port, headers: { authorization: `Bearer ${key}` }, expects: 201 })
  const post = (name: string): Request => ({
    method: "POST",
    path: "/api/v1/agents",
    body: Buffer.from(JSON.stringify({ name })),
    headers: { "idempotency-key": name }
  })
  const fresh = () => agents.load(Array.from({ length: POSTS }, () => post(randomUUID())))
  const known = randomUUID()
  await agents.load([post(known)])
  const again = () => agents.load(Array.from({ length: POSTS }, () => post(known)))
  await fresh()
  const repeated = await alternate(ROUNDS, fresh, again)
  for (const to of [limited, unlimited, agents]) to.close()
  const rate = (count: number, ms: number): number => figure((count / ms) * 1_000)
  return [
    {
      name: `platform.${backend}.limited_get`,
      value: rate(REQUESTS, read.subjectMs),
      unit: "requests/s",
      limit: rate(REQUESTS, read.limitMs),
      ratio: figure(read.ratio),
      goal: `ratio >= ${GOAL}`,
      met: read.ratio >= GOAL
    },
    {
      name: `platform.${backend}.repeated_post`,
      value: rate(POSTS, repeated.subjectMs),
      unit: "requests/s",
      limit: rate(POSTS, repeated.limitMs),
      ratio: figure(repeated.ratio),
      goal: "none",
      met: true
    }
  ]
}
