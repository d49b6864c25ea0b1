/** Reviews: people answer what an envelope does not let an agent do alone. Spec: envelopes.md 3.11; decision 0049. */
import {
  detailItem,
  InvalidInput,
  isId,
  type Review,
  type ReviewClaimed,
  type ReviewClaimIn,
  ReviewClosed,
  type ReviewDetail,
  type ReviewListQuery,
  ReviewerNotEligible,
  ReviewNotFound,
  type ReviewResolveIn,
  type ReviewStreamQuery,
  type ReviewWithdrawIn
} from "@flyball/contract"
import { fromUtf8 } from "@flyball/evidence"
import { EVALUATION_SCOPE, type ReviewDocument, REVIEWS, reviewStatus } from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { readEvaluation } from "../evaluations/find-evaluation.ts"
import { Evaluations } from "../evaluations/service.ts"
import { type ReviewBacklog, reviewBacklog } from "./backlog.ts"
import { reviewEndings } from "./endings.ts"
import { listReviews } from "./list-reviews.ts"
import { planCancel } from "./plan-expire.ts"
import { planClaim, type Reviewer } from "./plan-claim.ts"
import { planResolve } from "./plan-resolve.ts"
import { presentation } from "./presentation.ts"
import { reviewQueue } from "./queue.ts"
import { reviewFeed, type ReviewPlace, type ReviewStep } from "./review-changes.ts"
import { isOwnerOf, toRequesterAndAuthors } from "./who-may-answer.ts"
import { reviewOut, type ReviewPlan, type StoredReview, storedReview } from "./stored-review.ts"

/** A person who answers or reads reviews. Spec: decision 0049. */
export interface ReviewingPerson {
  readonly writer: Writer
  /** Roles of the person by org unit; `any`: the host answers for the person. */
  readonly grants: ReadonlyArray<{ readonly role: string; readonly orgUnit: string }> | "any"
  /** The address that the issuer says is this person's; null where it says none. */
  readonly email: string | null
}

/**
 * Operations on reviews. Objects outside `scope` are answered as not found. Spec: document 1 section 5, item 8;
 * decisions 0049 and 0064.
 */
export interface ReviewsApi {
  /**
   * Newest first, by the time at which they were opened. A page reads at most 20,000 reviews, so it may be shorter than
   * its limit. An empty one is the end: where none of those read is to be shown, and more may follow, `InvalidInput`
   * names the position to continue from (`ctx.before`). `requestedBy`: only those that this writer requested.
   */
  readonly list: (
    query: ReviewListQuery,
    scope?: Scope,
    requestedBy?: string | null
  ) => Effect.Effect<ReadonlyArray<Review>, InvalidInput | ReadFault>
  readonly get: (
    id: string,
    scope?: Scope,
    requestedBy?: string | null
  ) => Effect.Effect<Review, ReviewNotFound | ReadFault>
  /** The review as soon as it is over, or its state when the time has passed. Unit: milliseconds. */
  readonly wait: (
    id: string,
    waitMs: number,
    scope?: Scope,
    requestedBy?: string | null
  ) => Effect.Effect<Review, ReviewNotFound | ReadFault>
  /**
   * Where a reader of changes begins: behind this record. Without one, and behind one that the chain does not have, at
   * the reviews that wait for people.
   */
  readonly placeBehind: (seq: number | null) => Effect.Effect<ReviewPlace, ReadFault>
  /**
   * The next changes of reviews, oldest first, and where to continue. Where there are none it waits for one, and
   * answers none when the time is over. Unit: milliseconds.
   */
  readonly changes: (
    place: ReviewPlace,
    waitMs: number,
    query?: ReviewStreamQuery,
    scope?: Scope,
    requestedBy?: string | null
  ) => Effect.Effect<ReviewStep, ReadFault>
  /**
   * The review with what a reviewer must see. `reviewer`: a person who may answer reviews there, and so is shown the
   * arguments; that the person saw them is recorded while the review is live. Null: both are withheld.
   */
  readonly detail: (
    id: string,
    reviewer: Writer | null,
    scope?: Scope,
    requestedBy?: string | null
  ) => Effect.Effect<ReviewDetail, ReviewNotFound | ReadFault>
  /** Takes a review up, renews that, or gives it back. */
  readonly claim: (
    id: string,
    input: ReviewClaimIn,
    person: ReviewingPerson,
    scope?: Scope
  ) => Effect.Effect<Review, ReviewClaimed | ReviewClosed | ReviewNotFound | ReviewerNotEligible | ReadFault>
  /**
   * Answers it. Whether its time is over is decided in the commit of the answer. A rejection and an amendment say why,
   * else `InvalidInput`.
   */
  readonly resolve: (
    id: string,
    input: ReviewResolveIn,
    person: ReviewingPerson,
    scope?: Scope
  ) => Effect.Effect<
    Review,
    InvalidInput | ReviewClaimed | ReviewClosed | ReviewNotFound | ReviewerNotEligible | ReadFault
  >
  /** Its requester does not want to know any more. */
  readonly withdraw: (
    id: string,
    input: ReviewWithdrawIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Review, ReviewClosed | ReviewNotFound | ReadFault>
  /** Records the end of reviews that time, a halt or a new version ended, and answers how many. For the job. */
  readonly sweep: Effect.Effect<number, ReadFault>
  /** Reviews that wait for people, and the age of the oldest. More than 250 are counted once a minute. */
  readonly backlog: Effect.Effect<ReviewBacklog, ReadFault>
}

/** Reviews of a page that are read at a time. */
const TOGETHER = 16
/** How often a wait polls for what ends a review without a record: its time, a halt, other versions. Milliseconds. */
const POLL_MS = 1_000

/** Service of reviews. Spec: document 1 section 5, item 8; decisions 0049 and 0064. */
export class Reviews extends Context.Service<Reviews, ReviewsApi>()("flyball/core/Reviews") {
  static readonly layer: Layer.Layer<Reviews, never, Storage | Evaluations> = Layer.effect(
    Reviews,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const evaluations = yield* Evaluations
      const endings = reviewEndings(storage)
      const { acting, agentOf } = endings
      const queue = reviewQueue(storage)

      /** Reports whether a caller may see a review. The org unit of each agent is read once. */
      const visibleTo = (scope: Scope, own: string | null) => {
        const seen = new Map<string, boolean>()
        return Effect.fnUntraced(function* ({ body: { agentId, requestedBy } }: StoredReview) {
          if ((own ?? requestedBy) !== requestedBy) return false
          const known = scope.orgUnits === "*" ? true : seen.get(agentId)
          if (known !== undefined) return known
          const isIn = covers(scope, (yield* agentOf(agentId)).body.orgUnit)
          seen.set(agentId, isIn)
          return isIn
        })
      }

      const read = Effect.fnUntraced(function* (
        id: string,
        scope: Scope,
        requestedBy: string | null
      ): Effect.fn.Return<{ readonly stored: StoredReview; readonly agent: StoredAgent }, ReviewNotFound | ReadFault> {
        const document = isId("review", id) ? yield* storage.get(REVIEWS, id) : null
        if (document === null) return yield* new ReviewNotFound({ reviewId: id })
        const stored = storedReview(document)
        const agent = yield* agentOf(stored.body.agentId)
        return covers(scope, agent.body.orgUnit) && (requestedBy ?? stored.body.requestedBy) === stored.body.requestedBy
          ? { stored, agent }
          : yield* new ReviewNotFound({ reviewId: id })
      })

      const evaluationOf = Effect.fnUntraced(function* ({ evaluationId }: ReviewDocument) {
        const [found] = yield* storage.once(EVALUATION_SCOPE, [evaluationId])
        return found === undefined
          ? yield* new StorageCorrupt({ reason: `the evaluation ${evaluationId} of a review is not there` })
          : yield* readEvaluation(storage, found.seq)
      })

      const shown = Effect.fnUntraced(function* (
        id: string,
        review: ReviewDocument,
        known: { readonly seq?: number; readonly nowMs?: number } = {}
      ) {
        const { body, parts } = yield* evaluationOf(review)
        return reviewOut(id, review, {
          seq: known.seq ?? (yield* queue.seqsOf([id])).get(id) ?? -1,
          action: actionOf(parts),
          argsRedacted: body["args_redacted"] === true,
          nowMs: known.nowMs ?? (yield* storage.asOf).ms
        })
      })

      /** As it stands: what ended it by itself counts before it is recorded. */
      const asItStands = Effect.fnUntraced(function* (id: string, scope: Scope, requestedBy: string | null) {
        const { agent, stored } = yield* read(id, scope, requestedBy)
        const { plan } = yield* endings.of(stored, agent, (yield* storage.asOf).ms)
        return plan?.review ?? stored.body
      })

      const get: ReviewsApi["get"] = Effect.fnUntraced(function* (id, scope = everyUnit, requestedBy = null) {
        return yield* shown(id, yield* asItStands(id, scope, requestedBy))
      })

      /** Reads who may not answer it, and how this person relates to them. */
      const reviewerOf = Effect.fnUntraced(function* (
        review: ReviewDocument,
        agent: StoredAgent,
        { email, grants, writer }: ReviewingPerson
      ): Effect.fn.Return<Reviewer, ReadFault> {
        const { orgUnit } = agent.body
        return {
          writer,
          roles:
            grants === "any"
              ? "any"
              : grants.flatMap((grant) => (grant.orgUnit === "*" || grant.orgUnit === orgUnit ? [grant.role] : [])),
          person: yield* toRequesterAndAuthors(storage, review, writer),
          earlier: yield* secondPerson(storage, review.resolvedBy, writer),
          isOwner: isOwnerOf(agent, email)
        }
      })

      /**
       * An act of a person on a live review, in the commit that decides whether it is live: one that would be sealed at
       * the review's end or later is planned again, and finds it over.
       */
      const act = <E>(
        id: string,
        person: ReviewingPerson,
        scope: Scope,
        plan: (stored: StoredReview, reviewer: Reviewer, nowMs: number) => Effect.Effect<ReviewPlan, E>
      ) =>
        Effect.gen(function* () {
          if (!isId("user", person.writer.id)) return yield* new ReviewerNotEligible({ why: "not_a_person" })
          const review = yield* acting(
            id,
            Effect.gen(function* () {
              const { agent, stored } = yield* read(id, scope, null)
              const { ms } = yield* storage.asOf
              const { expects, plan: ended } = yield* endings.of(stored, agent, ms)
              if (ended !== null) {
                yield* storage.commit({ ...ended.change, expects })
                return yield* new ReviewClosed({ status: reviewStatus(ended.review, ms) })
              }
              const reviewer = yield* reviewerOf(stored.body, agent, person)
              const planned = yield* plan(stored, reviewer, ms)
              if (planned.change.records !== undefined)
                yield* storage.commit({
                  ...planned.change,
                  expects: [...expects, { collection: AGENTS, id: agent.id, version: agent.version }],
                  sealBeforeMs: stored.body.expiresAtMs
                })
              return planned.review
            })
          )
          return yield* shown(id, review)
        })

      const visible = (id: string, scope: Scope, requestedBy: string | null) =>
        Effect.catchTag(read(id, scope, requestedBy), "ReviewNotFound", () => Effect.succeed(null))

      const list: ReviewsApi["list"] = Effect.fnUntraced(function* (query, scope = everyUnit, requestedBy = null) {
        const { found, nowMs } = yield* listReviews(storage, queue, query, visibleTo(scope, requestedBy))
        return yield* Effect.forEach(found, ({ seq, stored }) => shown(stored.id, stored.body, { seq, nowMs }), {
          concurrency: TOGETHER
        })
      })

      const feed = yield* reviewFeed({ storage, queue, shown: (id, review, seq) => shown(id, review, { seq }) })

      const backlog = yield* reviewBacklog(storage, queue)

      return Reviews.of({
        list,
        get,
        placeBehind: feed.from,
        changes: (place, waitMs, query = {}, scope = everyUnit, requestedBy = null) =>
          feed.step(place, waitMs, query, (id) =>
            Effect.map(visible(id, scope, requestedBy), (found) => found?.stored ?? null)
          ),
        wait: (id, waitMs, scope = everyUnit, requestedBy = null) => {
          const over = Effect.gen(function* () {
            for (;;) {
              // Before the review, so that a change behind it is not missed.
              const { seq } = yield* storage.asOf
              if ((yield* asItStands(id, scope, requestedBy)).ended !== null) return
              yield* Effect.raceFirst(feed.changedBehind(seq), Effect.sleep(POLL_MS))
            }
          })
          return Effect.andThen(Effect.raceFirst(over, Effect.sleep(waitMs)), get(id, scope, requestedBy))
        },
        detail: Effect.fnUntraced(function* (id, reviewer, scope = everyUnit, requestedBy = null) {
          const body = yield* asItStands(id, scope, requestedBy)
          const review = yield* shown(id, body)
          return yield* presentation(
            { storage, crypto, explain: evaluations.explain },
            review,
            yield* evaluationOf(body),
            reviewer,
            scope
          )
        }),
        claim: (id, { give_back = false }, person, scope = everyUnit) =>
          act(id, person, scope, (stored, reviewer, nowMs) =>
            Effect.fromResult(planClaim(stored, reviewer, give_back, nowMs))
          ),
        resolve: (id, { reason = null, resolution }, person, scope = everyUnit) =>
          resolution !== "approve" && reason === null
            ? Effect.fail(noReason())
            : act(id, person, scope, (stored, reviewer, nowMs) =>
                Effect.fromResult(planResolve(stored, reviewer, resolution, reason, nowMs))
              ),
        withdraw: (id, { reason = null }, writer, scope = everyUnit) =>
          Effect.flatMap(
            acting(
              id,
              Effect.gen(function* () {
                const { agent, stored } = yield* read(id, scope, writer.id)
                const { ms } = yield* storage.asOf
                const { expects, plan: ended } = yield* endings.of(stored, agent, ms)
                const status = reviewStatus(ended?.review ?? stored.body, ms)
                if (ended !== null) yield* storage.commit({ ...ended.change, expects })
                if (status !== "open" && status !== "claimed") return yield* new ReviewClosed({ status })
                const planned = planCancel(stored, "withdrawn", ms, { reason, writer })
                yield* storage.commit({
                  ...planned.change,
                  sealBeforeMs: stored.body.expiresAtMs,
                  turn: { class: "act", key: writer.id }
                })
                return planned.review
              })
            ),
            (review) => shown(id, review)
          ),
        sweep: endings.sweep,
        backlog
      })
    })
  )
}

const noReason = (): InvalidInput =>
  new InvalidInput({
    detail: [detailItem(["body", "reason"], "missing", "Say to the agent and its people why, and what to do instead")]
  })

/** Text of the action; null where it was left out or erased. */
const actionOf = (parts: ReadonlyMap<string, Uint8Array>): string | null => {
  const part = parts.get("action")
  const value: unknown = part === undefined ? null : JSON.parse(fromUtf8(part) ?? "null")
  return typeof value === "string" ? value : null
}
