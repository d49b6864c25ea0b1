/**
 * Turns the answer to an evaluation into the verdict on the action. Pure; each row of envelopes.md 3.12 is a case of
 * it.
 *
 * Enforcement fails closed: whatever is not a clear yes is a no, and no setting changes that.
 */
import type { Answer } from "../http/caller.ts"
import { refusalText } from "../http/server-refused.ts"
import { type Evaluation, type EvaluationRequest, type Outcome, outcomes } from "../wire.ts"

/** Rules that the client itself denies by. Spec: envelopes.md 3.12. */
export const localRules = [
  "@stale_status",
  "@killed",
  "@fail_closed:unreachable",
  "@fail_closed:auth",
  "@fail_closed:protocol",
  "@fail_closed:guard"
] as const

/** One of {@link localRules}. */
export type LocalRule = (typeof localRules)[number]

/** A verdict: the server's, or a denial of the client. `retry`: the same question may be sent again. */
export type Verdict =
  | { readonly by: "server"; readonly evaluation: Evaluation }
  | { readonly by: "client"; readonly rule: LocalRule; readonly reason: string; readonly retry: boolean }

/** Obligations of `envelope/1`, section 7. A newer server may know more; what this client cannot honour denies. */
const obligationTypes: ReadonlySet<unknown> = new Set([
  "notify",
  "redact_fields",
  "reviewers",
  "sample_for_eval_bp",
  "cooldown_ms",
  "two_person"
])

/** Reads the answer to a question. An evaluation of another agent or question gives no verdict on this one. */
export const verdictOf = (answer: Answer, question: Pick<EvaluationRequest, "agent_id" | "client_ref">): Verdict => {
  if (answer.kind === "unreachable") return denied("@fail_closed:unreachable", answer.reason, true)
  const { body, status } = answer
  if (status === 401 || status === 403) return denied("@fail_closed:auth", refusalText(answer))
  if (status !== 200 && status !== 201) return denied("@fail_closed:protocol", refusalText(answer))
  const evaluation = readEvaluation(body)
  if (evaluation === null)
    return denied(
      "@fail_closed:protocol",
      body === undefined ? refusalText(answer) : "the answer is not an evaluation that this version understands"
    )
  if (evaluation.agent_id !== question.agent_id || evaluation.client_ref !== question.client_ref)
    return denied("@fail_closed:protocol", "the answer is the evaluation of another question")
  if (isPermission(evaluation.outcome)) {
    const unknown = evaluation.obligations.find((one) => !obligationTypes.has(one["type"]))
    if (unknown !== undefined)
      return denied("@fail_closed:protocol", `this version does not know the obligation ${String(unknown["type"])}`)
  }
  return { by: "server", evaluation }
}

/** True when the action may begin. */
export const isPermission = (outcome: Outcome): boolean => outcome === "allow" || outcome === "allow_with_notice"

/**
 * True when a verdict opens the review that it names. Otherwise people have the same question already, from an earlier
 * process too, and may have approved it. Spec: format 1 section 8, `review.opened`.
 */
export const opensReview = ({ id, review_id: reviewId }: Evaluation): boolean =>
  reviewId?.slice("rev_".length) === id.slice("evl_".length)

const denied = (rule: LocalRule, reason: string, retry = false): Verdict => ({ by: "client", rule, reason, retry })

/** An evaluation, if it has what a verdict is read from. */
const readEvaluation = (body: unknown): Evaluation | null => {
  if (typeof body !== "object" || body === null) return null
  const { id, matched_rule, obligations, outcome, valid_ms } = body as { readonly [name: string]: unknown }
  return typeof id === "string" &&
    typeof matched_rule === "string" &&
    outcomes.includes(outcome as Outcome) &&
    typeof valid_ms === "number" &&
    valid_ms >= 0 &&
    Array.isArray(obligations) &&
    obligations.every((one) => typeof one === "object" && one !== null)
    ? (body as Evaluation)
    : null
}
