/** Reviews through the plain client. */
import { decode, isId, ReviewClaimIn, ReviewListQuery, ReviewResolveIn, ReviewWithdrawIn } from "@flyball/contract"
import { Effect } from "effect"
import { everyUnit } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type ReviewingPerson, Reviews } from "../../verdicts/reviews/service.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, query } from "./input.ts"
import type { ReviewerOptions, ReviewsClient } from "./types/reviews-client-types.ts"

const decodeClaim = decode(ReviewClaimIn)
const decodeList = query(decode(ReviewListQuery))
const decodeResolve = decode(ReviewResolveIn)
const decodeWithdraw = decode(ReviewWithdrawIn)

/** Reviews over a client. */
export const reviewsClient = (client: Client, own: Writer): ReviewsClient => {
  const act = acting(client, own)
  const person = (writer: Writer, options: ReviewerOptions | null | undefined): ReviewingPerson => ({
    writer,
    grants: options?.grants ?? "any",
    email: options?.email ?? null
  })
  return {
    list: (filter = {}, options) =>
      client.run(
        Effect.flatMap(decodeList(filter), (read) => Reviews.use((reviews) => reviews.list(read))),
        options
      ),
    get: (id, options) =>
      client.run(
        Reviews.use((reviews) => reviews.get(id)),
        options
      ),
    wait: (id, waitMs, options) =>
      client.run(
        Reviews.use((reviews) => reviews.wait(id, waitMs)),
        options
      ),
    detail: (id, options) =>
      act(
        (writer) => Reviews.use((reviews) => reviews.detail(id, isId("user", writer.id) ? writer : null, everyUnit)),
        options
      ),
    claim: (id, claim = {}, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeClaim, claim), (input) =>
            Reviews.use((reviews) => reviews.claim(id, input, person(writer, options)))
          ),
        options
      ),
    resolve: (id, answer, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeResolve, answer), (input) =>
            Reviews.use((reviews) => reviews.resolve(id, input, person(writer, options)))
          ),
        options
      ),
    withdraw: (id, why = {}, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeWithdraw, why), (input) =>
            Reviews.use((reviews) => reviews.withdraw(id, input, writer))
          ),
        options
      )
  }
}
