import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Agents } from "../registry/agents/service.ts"
import { Chain } from "../chain/chain.ts"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import { Guard } from "../chain/keys/guard.ts"
import { keysLayerOf } from "../chain/keys/keys.ts"
import { Signer } from "../chain/keys/signer.ts"
import { governorLayer, type GovernorLayerOptions, type GovernorServices } from "./governor-layer.ts"
import { IngestKeys } from "../registry/ingest-keys/service.ts"
import { layerOf } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { Storage } from "../storage/port.ts"
import { governorWorld } from "../testing/governor-world.ts"
import { systemHost } from "../foundation/writer.ts"

/** Runs `inside` in a governor of its own over the store and keys that are there. */
const session = <A, E>(options: GovernorLayerOptions, inside: Effect.Effect<A, E, GovernorServices>) =>
  Effect.gen(function* () {
    const ports = Layer.mergeAll(
      Layer.succeed(Storage, yield* Storage),
      Layer.succeed(Signer, yield* Signer),
      Layer.succeed(Guard, yield* Guard)
    )
    return yield* inside.pipe(Effect.provide(governorLayer(options).pipe(Layer.provide(ports))))
  })
const ports = () => Effect.provide(Layer.mergeAll(layerOf(memoryStorage()), keysLayerOf(ephemeralKeys())))

describe("the governor's services", () => {
  it.effect("open the same store again with the same keys", () =>
    Effect.gen(function* () {
      const first = yield* session(
        { origin: "flyball.example/again" },
        Agents.use((agents) => agents.register({ name: "a", org_unit: "ops" }, systemHost))
      )
      const again = yield* session(
        {},
        Agents.use((agents) => agents.find("a"))
      )
      assert.deepStrictEqual(again, first.agent)
      assert.strictEqual(
        (yield* Effect.flip(session({ origin: "flyball.example/other" }, Effect.void)))._tag,
        "OriginRefused"
      )
    }).pipe(ports())
  )

  it.effect("write nothing by themselves when they only read", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      assert.strictEqual((yield* Effect.flip(session({ readOnly: true }, Effect.void)))._tag, "ChainMissing")
      assert.isNull(yield* storage.head)
      yield* session(
        {},
        Agents.use((agents) => agents.register({ name: "a", org_unit: "ops" }, systemHost))
      )
      const before = [yield* storage.head, yield* storage.list("checkpoints"), yield* storage.list("settings")]
      yield* session(
        { readOnly: true },
        Chain.use((chain) => chain.verify())
      )
      assert.deepStrictEqual(
        [yield* storage.head, yield* storage.list("checkpoints"), yield* storage.list("settings")],
        before
      )
    }).pipe(ports())
  )

  it.effect("leave the store of another tenant's name as it is", () =>
    Effect.gen(function* () {
      yield* session({ tenantId: "acme" }, Effect.void)
      assert.strictEqual((yield* Effect.flip(session({ tenantId: "other" }, Effect.void)))._tag, "TenantRefused")
    }).pipe(ports())
  )

  it.effect("sign at once for a record that cannot wait, with no time passing", () =>
    Effect.gen(function* () {
      const chain = yield* Chain
      yield* IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "ops" }, systemHost))
      const note = yield* chain.checkpointText.pipe(
        Effect.tap(() => Effect.yieldNow),
        Effect.repeat({ until: (text) => text !== null && text.split("\n")[1] === "2" })
      )
      assert.include(note, "flyball.example/test\n2\n")
    }).pipe(Effect.provide(governorWorld()))
  )
})
