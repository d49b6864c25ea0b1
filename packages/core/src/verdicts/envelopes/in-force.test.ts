import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { governedAgent, ann } from "../evaluations/testing/refunds.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { inForceReader } from "./in-force.ts"
import { ENVELOPE_VERSIONS } from "@flyball/rules"
import { Envelopes } from "./service.ts"

describe("what is in force", () => {
  it.effect("does not keep what a slow reader read before a change", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const storage = yield* Storage
      const [reading, changed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let isFirst = true
      const slow: StorageApi = {
        ...storage,
        get: (collection, id) => {
          if (collection !== ENVELOPE_VERSIONS || !isFirst) return storage.get(collection, id)
          isFirst = false
          return Deferred.succeed(reading, undefined).pipe(
            Effect.andThen(Deferred.await(changed)),
            Effect.andThen(storage.get(collection, id))
          )
        }
      }
      const reader = inForceReader(slow)
      const early = yield* Effect.forkChild(reader.of(agentId, "ops", 0))
      yield* Deferred.await(reading)
      yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
      assert.isNull((yield* reader.of(agentId, "ops", 0)).live.ready)
      yield* Deferred.succeed(changed, undefined)
      assert.isNotNull((yield* Fiber.join(early)).live.ready)
      assert.isNull((yield* reader.of(agentId, "ops", 0)).live.ready)
    }).pipe(Effect.provide(governorWorld()))
  )
})
