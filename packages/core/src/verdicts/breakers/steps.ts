/** Evaluations read the breakers of their agent first: what is due trips before the outcome is decided. */
import { Effect, Layer } from "effect"
import { Storage } from "../../storage/port.ts"
import { EvaluationSteps } from "../evaluations/ports.ts"
import { breakerActivation } from "./activation.ts"
import { BreakerWindows } from "./keeper.ts"
import { tripDue } from "./trip.ts"

/** The steps of an evaluation with the breakers of its agent; all else stays as it was provided. */
export const breakerSteps: Layer.Layer<never, never, Storage | BreakerWindows> = Layer.effect(
  EvaluationSteps,
  Effect.gen(function* () {
    const others = yield* EvaluationSteps
    const storage = yield* Storage
    const windows = yield* BreakerWindows
    const tripping = { storage, windows, activated: breakerActivation(storage) }
    return {
      ...others,
      tripDue: Effect.fnUntraced(function* (agentIds, at) {
        const version = yield* windows.version
        let tripped = 0
        if (version > 0)
          for (const agentId of agentIds)
            if ((yield* windows.of(agentId, at, version)) !== null) tripped += yield* tripDue(tripping, agentId, at)
        return tripped > 0
      })
    }
  })
)
