/** Reviews as a host sees them: what their rows do not say. */
import { Effect } from "effect"
import { Reviews } from "../../verdicts/reviews/service.ts"
import type { ReviewsClient } from "../governor.ts"
import type { Client } from "./client.ts"
import { decodeWait } from "./input.ts"

/** Reads of reviews without what a reviewer needs. A wait ends early when the governor closes, with `ended`. */
export const reviewsClient = ({ run }: Client, ended: AbortSignal): Pick<ReviewsClient, "get" | "wait"> => ({
  get: (id, options) =>
    run(
      Reviews.use((reviews) => reviews.get(id)),
      options
    ),
  wait: (id, waitMs, options) =>
    run(
      Effect.flatMap(decodeWait(waitMs), (forMs) =>
        Reviews.use((reviews) =>
          Effect.raceFirst(reviews.wait(id, forMs), Effect.andThen(aborted(ended), reviews.get(id)))
        )
      ),
      options
    )
})

const aborted = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const over = (): void => resume(Effect.void)
    if (signal.aborted) return over()
    signal.addEventListener("abort", over, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", over))
  })
