/**
 * Three servers on one Postgres evaluate for one agent at the same time: no cap is passed, one reference has one
 * verdict, and the records match the answers.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chain, governorLayer, keysLayerOf, Replay } from "@flyball/core"
import { layerOf } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, Logger } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { evaluatedAgain } from "../evaluations/governed-history.ts"
import { adminToken, flyball, type ServerProcess, startServer, type Variables } from "./server-process.ts"

const CAP = 10_000
const MOST_CALLS = 25
const LARGEST = 400
/** Callers of one agent's key at once, and what each of them asks. */
const CALLERS = 9
const ASKS = 12

const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["call", "pay"], source: "caller" },
    amount: { type: "int", min: 0, max: LARGEST, unit: "EUR/100", source: "caller", on_missing: 0 }
  },
  effects: { call: "read", pay: "write_reversible" },
  meters: {
    spent: { op: "sum", of: "amount", where: { tool: ["pay"] }, window_ms: 86_400_000, key: ["agent_id"] },
    calls: { op: "count", where: { tool: ["call"] }, window_ms: 86_400_000, key: ["agent_id"] }
  },
  rules: [
    { id: "all", outcome: "allow", when: [] },
    {
      id: "cap",
      outcome: "deny",
      when: [
        { signal: "tool", in: ["pay"] },
        { meter: "spent", after_gt: CAP }
      ]
    },
    {
      id: "often",
      outcome: "deny",
      when: [
        { signal: "tool", in: ["call"] },
        { meter: "calls", after_gt: MOST_CALLS }
      ]
    }
  ],
  default: { outcome: "deny" }
}

let folder: string
const database = givenDatabase({ beforeAll: beforeEach, afterAll: afterEach })
let variables: Variables
let servers: ReadonlyArray<ServerProcess>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyball-evaluations-"))
  variables = { FLYBALL_DATA_DIR: join(folder, "data"), FLYBALL_DATABASE_URL: database.url, FLYBALL_LOG_LEVEL: "error" }
  servers = await Promise.all([1, 2, 3].map(() => startServer(variables)))
}, 120_000)
afterEach(async () => {
  await Promise.all(servers.filter((server) => server.runs()).map((server) => server.stop("SIGKILL")))
  rmSync(folder, { recursive: true, force: true })
})

// oxlint-disable-next-line no-explicit-any
type Json = any

const call = async (
  server: ServerProcess,
  token: string,
  method: string,
  path: string,
  body?: unknown
): Promise<{ readonly status: number; readonly json: Json }> => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, json: await response.json() }
}

/** An agent under the envelope, and an ingest key that asks for it. */
const governed = async (): Promise<{ readonly agentId: string; readonly admin: string; readonly key: string }> => {
  const admin = await adminToken(variables)
  const ben = (await flyball(["token", "--role", "admin", "--sub", "ben"], variables)).out.trim()
  const [server] = servers as [ServerProcess]
  const done = async (token: string, method: string, path: string, body?: unknown): Promise<Json> => {
    const { json, status } = await call(server, token, method, path, body)
    assert.isBelow(status, 300, `${method} ${path}: ${JSON.stringify(json)}`)
    return json
  }
  const { id: agentId } = await done(admin, "POST", "/agents", {
    name: "bot",
    org_unit: "ops",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  const { id } = await done(admin, "POST", "/bound/envelopes", { name: "Spending", agent_id: agentId, envelope })
  await done(ben, "POST", `/bound/envelopes/${id}/publish`)
  await done(admin, "PATCH", `/agents/${agentId}`, { autonomy_tier: "L2" })
  await done(admin, "POST", `/agents/${agentId}/activate`)
  return { agentId, admin, key: (await done(admin, "POST", "/admin/ingest-keys", { name: "k", org_unit: "ops" })).key }
}

describe("three servers that evaluate for one agent at once", () => {
  it(
    "exceed no cap together, give one verdict per reference, and record evaluations that replay",
    { timeout: 120_000 },
    async () => {
      const { admin, agentId, key } = await governed()
      const verdicts = new Map<string, Json>()
      const evaluate = async (place: number, client_ref: string, signals: object): Promise<void> => {
        const { json, status } = await call(servers[place % servers.length]!, key, "POST", "/bound/evaluations", {
          agent_id: agentId,
          client_ref,
          signals,
          args: signals
        })
        assert.strictEqual(status, 201, JSON.stringify(json))
        const { outcome, seq } = verdicts.get(client_ref) ?? json
        assert.deepEqual([json.outcome, json.seq], [outcome, seq])
        verdicts.set(client_ref, json)
      }
      await Promise.all(
        Array.from({ length: CALLERS }, async (_, caller) => {
          for (let n = 0; n < ASKS; n++) {
            const pays = n % 3 !== 0
            // Every server gets the same request at once now and then, as from a client that lost its answer.
            const places = n % 4 === 1 ? [0, 1, 2] : [caller + n]
            await Promise.all(
              places.map((place) =>
                evaluate(
                  place,
                  `c${caller}-${n}`,
                  pays ? { tool: "pay", amount: 100 + ((caller * 37 + n * 61) % (LARGEST - 100)) } : { tool: "call" }
                )
              )
            )
          }
        })
      )
      const through = (tool: string) =>
        [...verdicts.values()].filter(({ outcome, signals }) => signals.tool === tool && outcome !== "deny")
      const spent = through("pay").reduce((sum, { signals }) => sum + signals.amount, 0)
      assert.strictEqual(verdicts.size, CALLERS * ASKS)
      assert.isAtMost(spent, CAP)
      assert.isAbove(spent, CAP - LARGEST)
      assert.strictEqual(through("call").length, MOST_CALLS)

      // What is given back by a person at one server is there for all, and a key gives nothing back at any.
      const [first] = through("pay")
      const {
        json: {
          receipts: [{ decision_id: decisionId }]
        }
      } = await call(servers[1]!, key, "POST", `/agents/${agentId}/decisions`, {
        client_ref: "d",
        kind: "tool_call",
        action: "pay",
        status: "intended",
        evaluation_id: first.id
      })
      for (const server of servers) {
        const { json, status } = await call(server, key, "POST", `/decisions/${decisionId}/settle`, {
          status: "error",
          actual: [{ meter: "spent", amount: 0 }]
        })
        assert.deepEqual(
          [status, json.code, json.meter, json.reserved],
          [403, "settle_below_reserved", "spent", first.signals.amount]
        )
      }
      assert.strictEqual((await call(servers[2]!, admin, "POST", `/bound/evaluations/${first.id}/void`)).status, 201)
      await Promise.all(servers.map((_, place) => evaluate(place, `after-${place}`, { tool: "pay", amount: 0 })))
      for (const place of servers.keys())
        assert.strictEqual(
          verdicts.get(`after-${place}`).meters.find(({ id }: Json) => id === "spent").value,
          spent - first.signals.amount
        )

      await Promise.all(servers.map((server) => server.stop("SIGTERM")))
      const [verified, again, differences] = await Effect.all([
        Chain.use((chain) => chain.verify()),
        evaluatedAgain,
        Replay.use(({ check }) => Effect.map(check, ({ differences }) => differences))
      ]).pipe(
        Effect.provide(
          governorLayer().pipe(
            Layer.provideMerge(layerOf(postgresStorage({ url: database.url }))),
            Layer.provide(keysLayerOf(dataFolder({ dir: join(folder, "data") })))
          )
        ),
        Effect.provide(Logger.layer([])),
        Effect.runPromise
      )
      assert.deepEqual(
        [verified.ok, again.length, again.filter(({ verdict }) => verdict !== "ok"), differences],
        [true, verdicts.size, [], []]
      )
    }
  )
})
