/** Calls that a killed process left open: another one settles them once, with a decision. */
import { assert, describe, it } from "@effect/vitest"
import {
  Agents,
  Capture,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  layerOf,
  memoryStorage,
  Quotas,
  systemHost
} from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import { memorySecretBox } from "@flyball/node"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ledger } from "./ledger.ts"
import { openSecret, readUpstreams, sealUpstream } from "./upstreams.ts"
import { SecretBox } from "@flyball/core"

const layer = governorLayer().pipe(
  Layer.provideMerge(layerOf(memoryStorage())),
  Layer.provide(keysLayerOf(ephemeralKeys()))
) as Layer.Layer<GovernorServices | Storage>

describe("a call whose process is gone", () => {
  it.effect("is settled at its most, once, and is on record", () =>
    Effect.gen(function* () {
      const { agent } = yield* (yield* Agents).register(
        { name: "clerk", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" },
        systemHost
      )
      const killed = yield* ledger(null)
      const other = yield* ledger(null)
      const use = { unit: "ops", resource: "tokens", amount: 700, limit: 1_000 }
      const facts = { agentId: agent.id, caller: "pky_1", form: "chat", model: "m", modelId: null, inputEstimate: 200 }
      yield* killed.sweep
      const call = yield* killed.open(use, facts)
      const used = Effect.map(
        Quotas.use((quotas) => quotas.used("ops", ["tokens"])),
        (found) => found.used[0]
      )
      const refused = yield* Effect.flip(other.open(use, facts))
      assert.strictEqual(refused._tag, "QuotaExceeded")
      yield* TestClock.adjust(10_000)
      yield* killed.sweep
      yield* TestClock.adjust(6_000)
      yield* other.sweep
      assert.isEmpty(yield* Capture.use((capture) => capture.list(agent.id)), "its process lives")
      yield* TestClock.adjust(20_000)
      yield* other.sweep
      yield* other.sweep
      const [decision, ...more] = yield* Capture.use((capture) => capture.list(agent.id))
      assert.deepInclude(decision!.usage, { input_tokens: 200, output_tokens: 500 })
      assert.deepStrictEqual([decision!.status, more, yield* used], ["unknown", [], 700])
      // It was not gone after all: the first settlement stays.
      yield* killed.close(call, {
        end: "finished",
        upstreamStatus: 200,
        usage: { input: 1, output: 1 },
        outputEstimate: 0,
        tools: []
      })
      assert.strictEqual(yield* used, 700)
      assert.lengthOf(yield* Capture.use((capture) => capture.list(agent.id)), 1)
    }).pipe(Effect.provide(layer))
  )
})

describe("the file of upstreams", () => {
  const entry = { model: "m", base_url: "https://api.example/v1/" }
  const read = (...upstreams: ReadonlyArray<object>) => readUpstreams(JSON.stringify({ upstreams }))

  it("names what is wrong with it", () => {
    assert.deepStrictEqual(
      [
        readUpstreams("{"),
        readUpstreams("[]"),
        read({ ...entry, secret: "sk" }),
        read({ ...entry, forms: ["soap"] }),
        read(entry, entry),
        read({ ...entry, idle_ms: 0 }),
        ...["ftp://api.example/v1", "https://a:b@api.example/v1", "https://api.example/v1?k=1"].map((address) =>
          read({ ...entry, base_url: address })
        )
      ].map((found) => (typeof found === "string" ? found.slice(0, 30) : found)),
      [
        "it is no JSON",
        'it is expected to be {"upstream',
        "upstreams[0]: a secret is seale",
        "upstreams[0]: forms is a list o",
        "upstreams[1]: the model m is th",
        "upstreams[0]: idle_ms is 1 to 3",
        ...Array.from({ length: 3 }, () => "upstreams[0]: base_url is an address such")
      ].map((text) => text.slice(0, 30))
    )
  })

  it.effect("holds secrets that open for their host alone", () =>
    Effect.gen(function* () {
      const box = yield* SecretBox
      const sealed = yield* sealUpstream(box, entry.base_url, "sk-1")
      assert.notInclude(sealed, "sk-1")
      const [upstream] = read({ ...entry, sealed_secret: sealed }) as Exclude<ReturnType<typeof readUpstreams>, string>
      assert.strictEqual(yield* openSecret(box, upstream!), "sk-1")
      const moved = { ...upstream!, baseUrl: "https://other.example/v1" }
      assert.strictEqual((yield* Effect.flip(openSecret(box, moved)))._tag, "UpstreamFailed")
    }).pipe(Effect.provide(memorySecretBox))
  )
})
