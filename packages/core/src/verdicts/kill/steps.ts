/** Evaluations obey the kill switch. */
import { Effect, Layer } from "effect"
import { Storage } from "../../storage/port.ts"
import { EvaluationSteps } from "../evaluations/ports.ts"
import { killReader } from "./kill-reader.ts"

/** The steps of an evaluation with what reaches its agent; all else stays as it was provided. */
export const killSteps: Layer.Layer<never, never, Storage> = Layer.effect(
  EvaluationSteps,
  Effect.gen(function* () {
    const others = yield* EvaluationSteps
    const reader = killReader(yield* Storage)
    return { ...others, killOf: reader.of }
  })
)
