/** Metrics of the review queue, read from the store when the metrics are read. */
import { type MetricFamily, Reviews } from "@flyball/core"
import { Effect } from "effect"
import { gauge } from "./exposition.ts"

/** A store that takes longer says nothing of them. */
const READ_TIMEOUT = "2 seconds"

/** Reviews that wait for people, and the age of the oldest; without samples where the store does not answer. */
export const reviewFamilies: Effect.Effect<ReadonlyArray<MetricFamily>, never, Reviews> = Effect.gen(function* () {
  const backlog = yield* Reviews.use((reviews) => reviews.backlog).pipe(
    Effect.timeoutOption(READ_TIMEOUT),
    Effect.map((read) => (read._tag === "Some" ? read.value : null)),
    Effect.catch(() => Effect.succeed(null))
  )
  return [
    gauge(
      "flyball_open_reviews",
      "Reviews that wait for people: open or claimed, and not expired.",
      backlog?.open ?? null
    ),
    gauge(
      "flyball_oldest_review_age_seconds",
      "Age of the review that waits longest, 0 when none waits.",
      backlog === null ? null : backlog.oldestMs / 1_000
    )
  ]
})
