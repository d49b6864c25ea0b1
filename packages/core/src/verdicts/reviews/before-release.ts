/** Before a halt is lifted, what it ended is recorded: a review that it reached is never answered afterwards. */
import { Effect, Layer } from "effect"
import { Storage } from "../../storage/port.ts"
import { BeforeRelease } from "../kill/before-release.ts"
import { reviewEndings } from "./endings.ts"

/** Ends the reviews of halted agents before a release. Spec: envelopes.md 3.11, `cancelled {killed}`; decision 0049. */
export const endReviewsBeforeRelease: Layer.Layer<never, never, Storage> = Layer.effect(
  BeforeRelease,
  Effect.gen(function* () {
    const others = yield* BeforeRelease
    const { sweep } = reviewEndings(yield* Storage)
    return Effect.andThen(others, Effect.asVoid(sweep))
  })
)
