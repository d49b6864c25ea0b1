/** Reviews as a host sees them: what their rows do not say. */
import { Effect } from "effect"
import { Reviews } from "../../verdicts/reviews/service.ts"
import type { ReviewsClient } from "../governor.ts"
import type { Client } from "./client.ts"
import { decodeWait } from "./input.ts"

/** Reads of reviews without what a reviewer needs. */
export const reviewsClient = ({ run }: Client): Pick<ReviewsClient, "get" | "wait"> => ({
  get: (id, options) =>
    run(
      Reviews.use((reviews) => reviews.get(id)),
      options
    ),
  wait: (id, waitMs, options) =>
    run(
      Effect.flatMap(decodeWait(waitMs), (forMs) => Reviews.use((reviews) => reviews.wait(id, forMs))),
      options
    )
})
