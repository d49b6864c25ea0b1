/** Reviews in the embedding API, derived from the contract. */
import type {
  Review,
  ReviewClaimIn,
  ReviewDetail,
  ReviewListQuery,
  ReviewResolveIn,
  ReviewWithdrawIn
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** A review. Spec: format 1 section 8, `review.opened`; decision 0049. */
export interface ReviewInfo extends Info<typeof Review> {}

/** A review with all that its reviewer needs. Spec: decision 0049. */
export interface ReviewDetailInfo extends Info<typeof ReviewDetail> {}

/**
 * The person who answers: `writer` is `usr_…`. The host is responsible for the person's right to answer, unless it
 * passes the person's roles. Spec: decision 0049.
 */
export interface ReviewerOptions extends ActOptions {
  readonly grants?: ReadonlyArray<{ readonly role: string; readonly orgUnit: string }> | undefined
  /** The person's address: with `two_person` the agent's owner does not answer. */
  readonly email?: string | undefined
}

/**
 * Reviews: people approve or reject actions that an envelope does not allow alone. Spec: document 1 section 5, item 8,
 * names a review queue; decisions 0049 and 0064.
 */
export interface ReviewsClient {
  /** Newest first. An empty page is the end. */
  list(filter?: Filter<typeof ReviewListQuery>, options?: CallOptions): Promise<ReadonlyArray<ReviewInfo>>
  get(id: string, options?: CallOptions): Promise<ReviewInfo>
  /** The review as soon as it is over, or its state after `waitMs`. */
  wait(id: string, waitMs: number, options?: CallOptions): Promise<ReviewInfo>
  /** The action as a reviewer must see it. With a `writer` who is a person, a record says that the person saw it. */
  detail(id: string, options?: ActOptions): Promise<ReviewDetailInfo>
  /** Takes a review up for 15 minutes, renews that, or gives it back. */
  claim(id: string, claim?: Input<typeof ReviewClaimIn>, options?: ReviewerOptions): Promise<ReviewInfo>
  resolve(id: string, answer: Input<typeof ReviewResolveIn>, options?: ReviewerOptions): Promise<ReviewInfo>
  /** By its requester. */
  withdraw(id: string, why?: Input<typeof ReviewWithdrawIn>, options?: ActOptions): Promise<ReviewInfo>
}
