/**
 * Judges reviews by the records: whether each step was allowed, and whether an approval counted for the evaluation
 * that presents it. Spec: envelopes.md 3.11; decision 0049.
 */
import type { Decision } from "@flyball/envelope"
import { portableCrypto, toHex } from "@flyball/evidence"
import { approvalState, type ApprovalState, questionOf, isSameLayers } from "../../reviews/approval.ts"
import { consumption } from "../../reviews/consume.ts"
import {
  approvalsNeeded,
  canServe,
  isApproved,
  type ReviewDocument,
  reviewIdOf,
  type ReviewLayer,
  type ReviewNeed,
  type ReviewRole,
  reviewTerms,
  type ReviewTerms
} from "../../reviews/document.ts"
import { isPastEnd } from "../../reviews/status.ts"
import { openedReview, reviewAfter } from "../../reviews/fold.ts"
import { reaches } from "../../kill/reach.ts"
import { killStateOf } from "../../kill/state.ts"
import { recordedResponse } from "./kill.ts"
import { partMembers, partValue } from "../../records/part-json.ts"
import type { JsonMap, PartContent, ReplayRecord } from "../../records/record.ts"
import type { EvaluationBody, SideBody } from "../../evaluations/evaluation-body.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { signalsOf } from "../../evaluations/signals-part.ts"
import { CLOCK_STEP_MS, LATE_MS } from "../tolerances.ts"

/**
 * State of the approval that an evaluation presents. `unknown`: its review may be from before the first record here, or
 * a record or part that it depends on is not shown.
 */
export type PresentedApproval = ApprovalState | "none" | "unknown"

/** The members of an evaluation that later records need. */
interface LastEvaluation {
  readonly body: EvaluationBody
  readonly parts: ReplayRecord["parts"]
  readonly approval: PresentedApproval
  /** Null where the part with the obligations is not shown. */
  readonly terms: ReviewTerms | null
}

/** Fold of reviews up to a record. */
export class ReviewJudge {
  readonly #state: GovernedState
  readonly #fromGenesis: boolean
  readonly #reviews = new Map<string, ReviewDocument>()
  /** The records that opened them. */
  readonly #openedSeq = new Map<string, number>()
  /** The subject of the evaluation that opened a review, see {@link questionOf}; null: not shown. */
  readonly #question = new Map<string, string | null>()
  #last: LastEvaluation | null = null

  constructor(state: GovernedState, fromGenesis: boolean) {
    this.#state = state
    this.#fromGenesis = fromGenesis
  }

  /** State of the approval that an evaluation presents. */
  approvalOf(body: EvaluationBody, parts: ReplayRecord["parts"]): PresentedApproval {
    return body.approval_id === undefined ? "none" : this.#stateFor(body.approval_id, body, parts)
  }

  /** State of a review's approval for an evaluation. */
  #stateFor(id: string, body: EvaluationBody, parts: ReplayRecord["parts"]): PresentedApproval {
    const found = this.#reviews.get(id)
    if (found === undefined) return this.#fromGenesis ? "none" : "unknown"
    const review: ReviewDocument = this.#endedBy(id, found) === null ? found : { ...found, ended: "cancelled" }
    const stateOf = (isSameAction: boolean, terms: ReviewTerms | null): ApprovalState =>
      approvalState(
        review,
        {
          agentId: body.agent_id,
          actionDigest: body.action_digest ?? null,
          layers: layersOf(body),
          isSameAction,
          terms
        },
        body.as_of_ms
      )
    const [then, now] = [this.#question.get(id) ?? null, questionIn(body, parts)]
    // The verdict's obligations are recomputed: a record cannot understate them.
    const terms = termsOf(parts.get("advice"))
    const state = stateOf(then === null || now === null || then === now, terms)
    return (state !== "other_action" && (then === null || now === null)) || (state === "approved" && terms === null)
      ? "unknown"
      : state
  }

  /** A review after the records so far; undefined where none opens it. */
  review(id: string): ReviewDocument | undefined {
    return this.#reviews.get(id)
  }

  /** Takes an evaluation; answers the problem of its review, or null. */
  evaluation(body: EvaluationBody, parts: ReplayRecord["parts"]): Problem | null {
    const approval = this.approvalOf(body, parts)
    this.#last = { body, parts, approval, terms: termsOf(parts.get("advice")) }
    const { approval_id: approvalId, evaluation_id: id, outcome, review_id: reviewId } = body
    if (isOtherDigest(body, parts.get("args")))
      return problem("review_mismatch", "The action_digest is not that of the arguments in the part args.")
    const review = approvalId === undefined ? undefined : this.#reviews.get(approvalId)
    if (review !== undefined && approval !== "unknown" && approval !== "none") {
      const result = consumption(approval, {
        outcome,
        matchedRule: body.matched_rule,
        kill: recordedResponse(body) ?? "none"
      })
      // From here on it is used, whatever the record of that says.
      if (result !== null) this.#reviews.set(approvalId!, { ...review, consumedBy: id, consumedResult: result })
    }
    if (reviewId === undefined && outcome === "require_review")
      return problem("review_mismatch", `The evaluation opens ${reviewIdOf(id)}; the record names no review.`)
    if (reviewId === undefined || outcome !== "require_review" || reviewId === reviewIdOf(id)) return null
    // The same question is open already, or people approved it and nothing presented that yet.
    const named = reviewId === approvalId ? approval : this.#stateFor(reviewId, body, parts)
    return named === "open" || named === "unknown" || (named === "approved" && reviewId !== approvalId)
      ? null
      : problem("review_mismatch", `The evaluation opens ${reviewIdOf(id)}; the record names ${reviewId}.`)
  }

  /** Takes a record of a review, numbered as all chains count. `atMs`: its own time; null: not known. */
  take(record: ReplayRecord, atMs: number | null): Problem | null {
    const { body, kind, seq } = record
    const id = String(body["review_id"])
    const review = this.#reviews.get(id)
    if (kind === "review.opened") {
      this.#reviews.set(id, openedReview(body))
      this.#openedSeq.set(id, seq)
      return this.#opened(id, body)
    }
    if (review === undefined)
      return this.#fromGenesis ? problem("review_mismatch", `No record before it opens ${id}.`) : null
    const found = this.#step(id, review, record, atMs)
    // What an evaluation consumed is known since that.
    if (kind !== "review.consumed" || this.#last?.approval === "unknown")
      this.#reviews.set(id, reviewAfter(review, record))
    return found
  }

  #opened(id: string, body: JsonMap): Problem | null {
    const opened = openedReview(body)
    const last = this.#last
    if (last === null || last.body.evaluation_id !== opened.evaluationId)
      return this.#fromGenesis || last !== null
        ? problem("review_mismatch", `${id} must come directly after its evaluation ${opened.evaluationId}.`)
        : null
    const { body: made, parts, terms } = last
    this.#question.set(id, questionIn(made, parts))
    const wrong =
      id !== reviewIdOf(made.evaluation_id) || made.review_id !== id
        ? "the id of the review"
        : made.outcome !== "require_review"
          ? "an outcome that needs a review"
          : made.agent_id !== opened.agentId
            ? "the agent"
            : made.action_digest !== opened.actionDigest
              ? "the action"
              : made.matched_rule !== opened.matchedRule
                ? "the rule"
                : made.writer !== opened.requestedBy
                  ? "the requester"
                  : made.as_of_ms !== opened.openedAtMs
                    ? "the time"
                    : !isSameLayers(opened.layers, layersOf(made))
                      ? "the versions in force"
                      : null
    if (wrong !== null) return problem("review_mismatch", `${id} differs from its evaluation in ${wrong}.`)
    if (terms === null) return null
    return opened.expiresAtMs === opened.openedAtMs + terms.ttlMs &&
      opened.twoPerson === terms.twoPerson &&
      needsText(opened.needs) === needsText(terms.needs)
      ? null
      : problem("review_mismatch", `${id} requires other people, or another time, than the envelope.`)
  }

  #step(id: string, review: ReviewDocument, { body, kind }: ReplayRecord, atMs: number | null): Problem | null {
    if (body["agent_id"] !== review.agentId) return problem("review_mismatch", `${id} is a review of another agent.`)
    const writer = String(body["writer"])
    switch (kind) {
      case "review.claimed":
        return this.#over(id, review, null) ?? this.#person(id, review, writer)
      case "review.resolved":
        return this.#resolved(id, review, body, atMs)
      case "review.expired":
        return review.ended === null && review.expiresAtMs === body["expires_at_ms"]
          ? atMs !== null && atMs + CLOCK_STEP_MS < review.expiresAtMs
            ? problem("review_mismatch", `${id} expires before its time.`)
            : null
          : problem("review_mismatch", `${id} was over, or ends at another time.`)
      case "review.cancelled":
        return this.#cancelled(id, review, body)
      case "review.consumed":
        return this.#consumed(id, review, body)
      default:
        return null
    }
  }

  #cancelled(id: string, review: ReviewDocument, body: JsonMap): Problem | null {
    const wrong = (why: string): Problem => problem("review_mismatch", `${id} is cancelled as ${why}.`)
    const over = review.ended === null && body["cause"] === "killed" ? null : this.#over(id, review, null)
    if (over !== null) return over
    switch (body["cause"]) {
      case "withdrawn":
        return body["writer"] === review.requestedBy ? null : wrong(`withdrawn, but not by ${review.requestedBy}`)
      case "superseded": {
        const layers = this.#layersIn(review.agentId, Number(body["cancelled_at_ms"]))
        return layers === null || !isSameLayers(review.layers, layers)
          ? null
          : wrong("superseded, but the same versions are in force")
      }
      default: {
        const named = body["activation_id"]
        const holds = named === undefined || !this.#fromGenesis || this.#state.kills.live(String(named)) !== undefined
        return (holds && this.#isHalted(review.agentId) !== false) || this.#mayHaveEnded(id, review, named)
          ? null
          : wrong("killed, but no such halt reaches its agent, or did and was released since it was opened")
      }
    }
  }

  #resolved(id: string, review: ReviewDocument, body: JsonMap, atMs: number | null): Problem | null {
    const writer = String(body["writer"])
    const at = Number(body["resolved_at_ms"])
    const isApproval = body["resolution"] === "approve"
    const over = this.#over(id, review, isApproval ? at : null)
    if (over !== null) return over
    if (isPastEnd(review, at)) return problem("review_mismatch", `${id} is answered after its end.`)
    if (atMs !== null && (at > atMs + CLOCK_STEP_MS || at < atMs - LATE_MS))
      return problem("review_mismatch", `The answer to ${id} says ${at}; it is recorded at ${atMs}.`)
    if (review.claimedBy !== null && review.claimedBy !== writer && (review.leaseUntilMs ?? 0) > at)
      return problem(
        "review_mismatch",
        `${id} is answered by another person than ${review.claimedBy}, who has claimed it.`
      )
    const person = this.#person(id, review, writer)
    if (person !== null) return person
    if (this.#isHalted(review.agentId) === true)
      return problem("review_mismatch", `${id} is answered while a halt reaches its agent.`)
    const layers = this.#layersIn(review.agentId, at)
    if (layers !== null && !isSameLayers(review.layers, layers))
      return problem(
        "review_mismatch",
        `${id} is answered although other versions are in force than when it was opened.`
      )
    const roles = (body["roles"] ?? []) as ReadonlyArray<ReviewRole>
    const approvals = isApproval ? [...review.approvals, { by: writer, roles }] : review.approvals
    return canServe(review.needs, roles) &&
      body["approvals_given"] === approvals.length &&
      body["approvals_needed"] === approvalsNeeded(review.needs) &&
      body["ends"] === (!isApproval || isApproved(review.needs, approvals))
      ? null
      : problem("review_mismatch", `The answer to ${id} states another number of approvals than there are.`)
  }

  #consumed(id: string, review: ReviewDocument, body: JsonMap): Problem | null {
    const last = this.#last
    const evaluationId = String(body["evaluation_id"])
    if (last === null || last.body.evaluation_id !== evaluationId)
      return this.#fromGenesis || last !== null
        ? review.consumedBy !== null
          ? problem("approval_reused", `${id} was consumed by ${review.consumedBy} before.`)
          : problem("review_mismatch", `${id} must be consumed directly after ${evaluationId}.`)
        : null
    if (last.body.approval_id !== id) return problem("review_mismatch", `${evaluationId} does not present ${id}.`)
    if (last.approval === "unknown") return null
    const found = last.approval === "none" ? null : counts(id, last.approval, review)
    if (found !== null) return found
    return review.consumedResult === body["result"]
      ? null
      : problem(
          "review_mismatch",
          `${id} is ${String(body["result"])}; the evaluation leaves it ${review.consumedResult ?? "as it is"}.`
        )
  }

  /** Problem of an act on a review that is over. `approvedAtMs`: the stated time of an approval. */
  #over(id: string, review: ReviewDocument, approvedAtMs: number | null): Problem | null {
    const { ended, expiresAtMs } = review
    if (approvedAtMs !== null && (ended === "expired" || (ended === null && isPastEnd(review, approvedAtMs))))
      return problem("expired_approval", `${id} is approved at ${approvedAtMs}; its end is ${expiresAtMs}.`)
    const halt = this.#endedBy(id, review)
    if (halt !== null) return problem("review_mismatch", `${id} was ended by ${halt}, which is released.`)
    return ended === null ? null : problem("review_mismatch", `${id} was ${ended} before.`)
  }

  /**
   * The halt that ended a live review and was released since: it is over, whether or not that is on record. One that
   * did not reach its agent all the time counts for nothing: the service may have read either.
   */
  #endedBy(id: string, { agentId, ended }: ReviewDocument): string | null {
    const opened = this.#openedSeq.get(id)
    if (opened === undefined || ended !== null) return null
    const halt = this.#state.kills
      .liftedSince(opened)
      .find(({ activation: { seq, target }, releasedSeq }) =>
        [seq, releasedSeq].every((at) => reaches(target, this.#state.reachOf(agentId, at).reach) !== null)
      )
    return halt?.activation.id ?? null
  }

  /** True when a halt that was released may have ended a review. `named`: the one that the record names. */
  #mayHaveEnded(id: string, { agentId }: ReviewDocument, named: JsonMap[string] | undefined): boolean {
    return this.#state.kills
      .liftedSince(this.#openedSeq.get(id) ?? Number.NEGATIVE_INFINITY)
      .some(
        ({ activation }) =>
          (named === undefined || named === activation.id) &&
          this.#state.wasReached(agentId, activation.target, activation.seq) !== false
      )
  }

  /**
   * Checks who answers: a person who is not the requester, an author of a version in force, or one who answered before.
   */
  #person(id: string, review: ReviewDocument, writer: string): Problem | null {
    if (!writer.startsWith("usr_")) return problem("self_approved", `${id} is answered by ${writer}, who is no person.`)
    if (review.resolvedBy.includes(writer))
      return problem("self_approved", `${id} is answered by ${writer} a second time.`)
    const why = whyExcluded(this.#state, review, writer)
    return why === null ? null : problem("self_approved", `${id} is answered by ${writer}, ${why}.`)
  }

  /** True when a halt reaches an agent; null: not known. */
  #isHalted(agentId: string): boolean | null {
    if (this.#state.kills.isQuiet) return this.#fromGenesis ? false : null
    const { isKnown, reach } = this.#state.reachOf(agentId)
    return killStateOf(this.#state.kills.of(reach)).halted ? true : isKnown && this.#fromGenesis ? false : null
  }

  /** The versions in force for an agent; null: not known. */
  #layersIn(agentId: string, atMs: number): ReadonlyArray<ReviewLayer> | null {
    return this.#fromGenesis ? (this.#state.inForce(agentId, atMs)?.live ?? null) : null
  }
}

/** Why a person may not answer a review, nor grant a standing approval from it; null where the records name nothing. */
export const whyExcluded = (
  state: Pick<GovernedState, "version">,
  { layers, requestedBy }: Pick<ReviewDocument, "layers" | "requestedBy">,
  writer: string
): string | null => {
  if (writer === requestedBy) return "its requester"
  const written = layers.find(({ envelopeId, version }) => state.version(envelopeId, version)?.authors.includes(writer))
  return written === undefined ? null : `an author of version ${written.version} of ${written.envelopeId}`
}

/** Why an approval does not count for the evaluation that presents it; null where it does. */
export const counts = (
  id: string,
  approval: PresentedApproval,
  { consumedBy }: Pick<ReviewDocument, "consumedBy">
): Problem | null => {
  switch (approval) {
    case "approved":
    case "superseded":
    case "stricter":
    case "unknown":
      return null
    case "reused":
      return problem("approval_reused", `${id} was consumed by ${consumedBy ?? "another evaluation"} before.`)
    case "other_action":
      return problem("approved_other_action", `${id} approves another action, or that of another agent.`)
    case "expired":
      return problem("expired_approval", `${id} was over when it was presented.`)
    case "open":
    case "not_approved":
    case "none":
      return problem("review_mismatch", `${id} was not approved when it was presented.`)
  }
}

/** True when the digest of the action differs from that of its arguments, where all of them are shown. */
const isOtherDigest = (body: EvaluationBody, args: PartContent | undefined): boolean =>
  args?.state === "present" &&
  body.args_redacted !== true &&
  toHex(portableCrypto.sha256(args.bytes)) !== body.action_digest

/** Why a verdict that depends on an approval is wrong: nobody approved it under the versions in force. */
export const unapproved = (body: EvaluationBody, approval: PresentedApproval): Problem =>
  counts(String(body.approval_id), approval, { consumedBy: null }) ??
  problem(
    "review_mismatch",
    approval === "stricter"
      ? `${body.approval_id} was approved by fewer people, or of other roles, than the verdict asks for.`
      : `${body.approval_id} was approved under other versions than are in force.`
  )

/** The subject of an evaluation beside its arguments; null where that is not shown. */
const questionIn = (body: EvaluationBody, parts: ReplayRecord["parts"]): string | null => {
  const args = body.args_redacted === true ? parts.get("args") : undefined
  const action = partValue(parts.get("action"))
  const signals = parts.get("signals")
  return signals?.state !== "present" ||
    (args !== undefined && args.state !== "present") ||
    (action.state !== "known" && action.state !== "absent")
    ? null
    : questionOf(
        portableCrypto.sha256,
        action.state === "known" && typeof action.value === "string" ? action.value : null,
        signalsOf(signals.bytes),
        args?.state === "present" ? args.bytes : null
      )
}

const layersOf = ({ layers }: Pick<SideBody, "layers">): ReadonlyArray<ReviewLayer> =>
  layers.map(({ envelope_id: envelopeId, version }) => ({ envelopeId, version }))

const needsText = (needs: ReadonlyArray<ReviewNeed>): string =>
  needs.map(({ approvals, role }) => `${role ?? "any"} ${approvals}`).join()

/** The terms that a recorded verdict's obligations set; null where they are not shown. */
const termsOf = (advice: PartContent | undefined): ReviewTerms | null => {
  const read = partMembers(advice)
  if (read.state === "absent") return reviewTerms([])
  if (read.state !== "known") return null
  const obligations = read.members["obligations"]
  return Array.isArray(obligations)
    ? reviewTerms(
        (obligations as ReadonlyArray<JsonMap>).flatMap((one): Decision["obligations"] =>
          one?.["type"] === "reviewers"
            ? [
                {
                  type: "reviewers",
                  role: String(one["role"]),
                  approvals: Number(one["approvals"]),
                  ttlMs: Number(one["ttl_ms"])
                }
              ]
            : one?.["type"] === "two_person"
              ? [{ type: "two_person" }]
              : []
        )
      )
    : null
}
