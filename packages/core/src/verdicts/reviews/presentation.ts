/** Presents an action to a reviewer, and records the presentation. */
import type { ExplanationOut, Review, ReviewDetail } from "@flyball/contract"
import { canonicalBytes, type Crypto, fromUtf8, parseInstant, readRecord, toHex } from "@flyball/evidence"
import { EVALUATION_SCOPE, PRESENTED_SCOPE, readSide, shownSignals } from "@flyball/rules"
import { Effect } from "effect"
import type { Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { contentDigest } from "../content/content-digest.ts"
import type { EvaluationRecord } from "../evaluations/evaluation-out.ts"
import { readEvaluation } from "../evaluations/find-evaluation.ts"
import type { EvaluationsApi } from "../evaluations/service.ts"
import { differencesOf } from "./differences.ts"

/** Services that a presentation needs. */
export interface Presenter {
  readonly storage: StorageApi
  readonly crypto: Crypto
  readonly explain: EvaluationsApi["explain"]
}

/** Answers of reviews that are searched for the last approved action of the tool, newest first. */
const ANSWERS_SEEN = 100

/**
 * The detail of a review. `reviewer`: who is shown signals and arguments; while the review is live, that is recorded.
 * Null: they are withheld.
 */
export const presentation = Effect.fnUntraced(function* (
  { crypto, explain, storage }: Presenter,
  review: Review,
  evaluation: EvaluationRecord,
  reviewer: Writer | null,
  scope: Scope
): Effect.fn.Return<ReviewDetail, ReadFault> {
  const explanation = yield* Effect.catchTag(explain(review.evaluation_id, scope), "EvaluationNotFound", () =>
    Effect.succeed(null)
  )
  const isShown = reviewer !== null
  const args = isShown ? valueOf(evaluation.parts.get("args")) : undefined
  const signals = evaluation.parts.get("signals")
  const earlier = args === undefined ? null : yield* lastApproved(storage, review)
  const differences = earlier?.args === undefined ? null : differencesOf(earlier.args, args)
  const presented = {
    id: review.id,
    evaluation_id: review.evaluation_id,
    action: review.action,
    action_digest: review.action_digest,
    args: args ?? null,
    args_redacted: review.args_redacted,
    signals: isShown && signals !== undefined ? shownSignals(signals) : null,
    matched_rule: review.matched_rule,
    rule_reason: explanation?.rule_reason ?? null,
    explanation: explanation as ExplanationOut | null,
    compared_with: earlier?.reviewId ?? null,
    differences: differences?.listed ?? null,
    differences_omitted: differences?.omitted ?? 0
  }
  const isLive = review.status === "open" || review.status === "claimed"
  const digest = isShown && isLive ? toHex(crypto.sha256(canonicalBytes(presented))) : null
  if (reviewer !== null && digest !== null) yield* recordPresented(storage, crypto, review, reviewer, digest)
  const { ms } = yield* storage.asOf
  return {
    ...review,
    ...presented,
    outcome: readSide(evaluation.body).outcome,
    withheld: !isShown,
    expires_in_ms: isLive ? Math.max(0, parseInstant(review.expires_at)! - ms) : 0,
    presented_digest: digest === null ? null : `sha256:${digest}`
  }
})

/** Key of a presentation: review, person and digest. */
export const presentedKey = (reviewId: string, writer: string, digest: string): string =>
  `${reviewId} ${writer} ${digest}`

/** That this person saw exactly this, once. */
const recordPresented = (
  storage: StorageApi,
  crypto: Crypto,
  { agent_id: agentId, id }: Review,
  writer: Writer,
  digest: string
) =>
  commitWithRetry(
    storage,
    Effect.gen(function* () {
      const key = presentedKey(id, writer.id, digest)
      if ((yield* storage.once(PRESENTED_SCOPE, [key])).length > 0) return
      yield* storage.commit({
        records: [
          {
            kind: "review.presented",
            agentId,
            body: {
              agent_id: agentId,
              as_of_seq: Math.max(0, (yield* storage.asOf).seq),
              presented_digest: digest,
              review_id: id,
              writer: writer.id
            },
            parts: [],
            once: { scope: PRESENTED_SCOPE, key, digest: contentDigest(crypto, key, []) }
          }
        ]
      })
    })
  )

/**
 * The last action of this tool and agent that people approved, with its arguments where they are there; null where
 * there is none among the last answers.
 */
const lastApproved = Effect.fnUntraced(function* (storage: StorageApi, review: Review) {
  if (review.action === null) return null
  const answers = yield* storage.records({
    agentId: review.agent_id,
    kinds: ["review.resolved"],
    order: "desc",
    limit: ANSWERS_SEEN
  })
  for (const { bytes, seq } of answers) {
    const read = readRecord(bytes)
    if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
    const { ends, resolution, review_id: reviewId } = read.record.body
    if (ends !== true || resolution !== "approve" || reviewId === review.id) continue
    const [made] = yield* storage.once(EVALUATION_SCOPE, [`evl_${String(reviewId).slice("rev_".length)}`])
    if (made === undefined) continue
    const { parts } = yield* readEvaluation(storage, made.seq)
    if (valueOf(parts.get("action")) === review.action)
      return { reviewId: String(reviewId), args: valueOf(parts.get("args")) }
  }
  return null
})

/** The value of a part that we wrote ourselves; undefined where it is missing. */
const valueOf = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? undefined : JSON.parse(fromUtf8(bytes) ?? "null")
