/** A whole governor in memory, for tests of the services. */
import { Effect, Layer } from "effect"
import type { Agent } from "@flyball/contract"
import { Agents } from "../registry/agents/service.ts"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import { keysLayerOf } from "../chain/keys/keys.ts"
import { governorLayer, type GovernorServices, type StartError } from "../governor/governor-layer.ts"
import { layerOf } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { Storage, type StorageApi } from "../storage/port.ts"
import { systemHost } from "../foundation/writer.ts"

/** A new governor over a new, empty store, with the store beside it; `wrap` may stand between the two. */
export const governorWorld = (
  wrap = (storage: StorageApi): StorageApi => storage
): Layer.Layer<GovernorServices | Storage, StartError> =>
  governorLayer({ origin: "flyball.example/test" }).pipe(
    Layer.provideMerge(Layer.effect(Storage, Effect.map(Storage, wrap)).pipe(Layer.provide(layerOf(memoryStorage())))),
    Layer.provide(keysLayerOf(ephemeralKeys()))
  )

/** An agent of this name and org unit. */
export const registered = (name: string, orgUnit = "ops"): Effect.Effect<Agent, unknown, Agents> =>
  Agents.use((agents) =>
    Effect.map(
      agents.register({ name, org_unit: orgUnit, owner_name: "Ada", owner_email: "ada@example.org" }, systemHost),
      ({ agent }) => agent
    )
  )
