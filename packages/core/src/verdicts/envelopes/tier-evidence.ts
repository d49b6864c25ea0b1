/** Tells the tier gate whether an envelope binds an agent. */
import { Effect, Layer } from "effect"
import { TierEvidence } from "../../registry/agents/tier-evidence.ts"
import { Storage } from "../../storage/port.ts"
import { inForceReader } from "./in-force.ts"

/** The evidence with what envelopes know; all else stays as it was provided. */
export const envelopeTierEvidence: Layer.Layer<never, never, Storage> = Layer.effect(
  TierEvidence,
  Effect.gen(function* () {
    const storage = yield* Storage
    const others = yield* TierEvidence
    const inForce = inForceReader(storage)
    return {
      ...others,
      publishedEnvelope: Effect.fnUntraced(function* (agentId, orgUnit) {
        if (yield* others.publishedEnvelope(agentId, orgUnit)) return true
        const { live } = yield* inForce.of(agentId, orgUnit, (yield* storage.asOf).ms)
        return live.ready !== null
      })
    }
  })
)
