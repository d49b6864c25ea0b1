/** Reads that cost more than a page have an admission per caller. Spec: api.md, "Small things decided" (429). */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { layerOf, memoryStorage, Storage, storageChoice } from "@flyball/core"
import { Deferred, Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { until } from "../webhook-tests/testing/jumping-clock.ts"
import { openWorld, type World } from "./http-world.ts"

/** Most costly reads that each caller may have under way. */
const LIMIT = 8

let world: World
let agentId: string
let gate: Deferred.Deferred<void> | null
let reading: number
beforeEach(async () => {
  gate = null
  reading = 0
  const held = Layer.effect(
    Storage,
    Storage.use((storage) =>
      Effect.succeed({
        ...storage,
        records: (query) =>
          Effect.suspend(() => {
            if (gate === null) return storage.records(query)
            reading++
            return Effect.andThen(Deferred.await(gate), storage.records(query))
          })
      } satisfies typeof storage)
    )
  )
  const layer = Layer.provide(held, layerOf(memoryStorage()))
  world = await openWorld({ storage: storageChoice("memory", layer, null, null) })
  agentId = await world.register("refund bot")
})
afterEach(() => world.close())

const costly = (): ReadonlyArray<readonly [method: string, path: string, json?: unknown]> => [
  ["GET", "/api/v1/chain/verify"],
  ["GET", "/api/v1/chain/records?limit=1000"],
  ["GET", `/api/v1/bound/evaluations?agent_id=${agentId}&limit=1000`],
  ["GET", `/api/v1/agents/${agentId}/decisions?limit=1000`],
  ["GET", `/api/v1/agents/${agentId}/timeline?limit=1000`],
  ["GET", "/api/v1/bound/kill/events?limit=1000"],
  ["GET", "/api/v1/bound/reviews?limit=1000"],
  [
    "POST",
    `/api/v1/bound/agents/${agentId}/breakers/preview`,
    { metric: "error_rate", window_decisions: 10, threshold: "0.5", response: "halt", name: "errors" }
  ]
]
const statusesIn = (log: World["log"], status: number): number => log.filter((entry) => entry.status === status).length
const untilRefused = (count: number) =>
  until(
    () => statusesIn(world.log, 429),
    (found) => found === count,
    `Expected ${count} refusals`
  )

describe("reads that cost more than a page", () => {
  it("run one after another for each caller, 8 wait, and others do not", async () => {
    const [auditor, reviewer] = [world.tokens.auditor, world.tokens.reviewer]
    gate = Deferred.makeUnsafe<void>()
    const sent = Array.from({ length: 20 }, () => world.send("GET", "/api/v1/chain/verify", { token: auditor }))
    await untilRefused(20 - LIMIT)
    for (const [method, path, json] of costly()) {
      const refused = await world.send(method, path, { token: auditor, json })
      const seen = [refused.status, refused.json.code, refused.json.limit, refused.headers.get("retry-after")]
      assert.deepStrictEqual(seen, [429, "read_queue_full", LIMIT, "1"], path)
    }
    // One of them, and what the host's own jobs read.
    assert.isBelow(reading, LIMIT)
    const before = reading
    // A page is no costly read, and another caller has a lane of its own.
    const page = world.send("GET", `/api/v1/agents/${agentId}/decisions?limit=100`, { token: auditor })
    const other = world.send("GET", "/api/v1/chain/verify", { token: reviewer })
    await until(
      () => reading,
      (found) => found >= before + 2,
      "Expected a page and another caller's read to begin"
    )
    await Effect.runPromise(Deferred.succeed(gate, undefined))
    assert.deepStrictEqual([(await page).status, (await other).status], [200, 200])
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    assert.strictEqual(statuses.filter((status) => status === 200).length, LIMIT)
  })
})
