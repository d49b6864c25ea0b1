/** Whether an approval counts for an evaluation. Pure: the live service and the verifier both run it. */
import type { Outcome } from "@flyball/envelope"
import { type ReviewDocument, type ReviewLayer, type ReviewTerms, reviewRoles } from "./document.ts"
import { isPastEnd } from "./status.ts"

/** The evaluation that presents an approval. Spec: decision 0049. */
export interface Presenting {
  readonly agentId: string
  /** 64 hex digits; null where the request had none. */
  readonly actionDigest: string | null
  /** The versions in force. */
  readonly layers: ReadonlyArray<ReviewLayer>
  /** Whether it names the action and the tool of the reviewed evaluation: see {@link actionNamed}. */
  readonly isSameAction: boolean
  /** What its verdict asks of people; null: not compared. */
  readonly terms: ReviewTerms | null
}

/**
 * Why an approval does not count; `approved` where it does. `open`: people have not answered yet. `superseded`: other
 * versions are in force than people answered under. `stricter`: the verdict asks for more people than approved. Spec:
 * decisions 0049 and 0054.
 */
export type ApprovalState =
  | "approved"
  | "open"
  | "not_approved"
  | "other_action"
  | "reused"
  | "expired"
  | "superseded"
  | "stricter"

/**
 * State of an approval for an evaluation at a time. It lives until the review's own end, counts once, and counts for
 * the very action of the very agent under the very versions that people saw.
 *
 * - Unit: `atMs` in milliseconds since 1970 UTC.
 * - Spec: decisions 0049 and 0054.
 */
export const approvalState = (review: ReviewDocument, by: Presenting, atMs: number): ApprovalState => {
  if (review.agentId !== by.agentId || review.actionDigest !== by.actionDigest || !by.isSameAction)
    return "other_action"
  if (review.consumedBy !== null) return "reused"
  if (review.ended === "expired" || (review.ended !== "cancelled" && isPastEnd(review, atMs))) return "expired"
  if (review.ended === null) return "open"
  if (review.ended !== "resolved" || review.resolution !== "approve") return "not_approved"
  if (!isSameLayers(review.layers, by.layers)) return "superseded"
  return by.terms === null || covers(review, by.terms) ? "approved" : "stricter"
}

/**
 * Result of presenting an approval; null where it stays as it is. Spec: format 1 section 8, `review.consumed`;
 * decisions 0049 and 0054.
 */
export const consumption = (state: ApprovalState, outcome: Outcome): "used" | "voided" | null =>
  state === "superseded" || state === "stricter"
    ? "voided"
    : state !== "approved"
      ? null
      : outcome === "allow" || outcome === "allow_with_notice"
        ? "used"
        : "voided"

/**
 * The names of an evaluation's action and tool, which the digest of its arguments does not cover.
 *
 * - `signals`: as the evaluation uses them.
 * - Spec: decision 0054.
 */
export const actionNamed = (action: string | null, signals: unknown): string => {
  const tool =
    typeof signals === "object" && signals !== null && Object.hasOwn(signals, "tool")
      ? (signals as { readonly tool: unknown }).tool
      : null
  return JSON.stringify([action, typeof tool === "string" ? tool : null])
}

/** Whether those who approved a review are as many, and of such roles, as these terms ask for. */
const covers = ({ approvals, twoPerson }: ReviewDocument, terms: ReviewTerms): boolean =>
  (twoPerson || !terms.twoPerson) &&
  terms.needs.every(
    ({ approvals: least, role }) =>
      approvals.filter(
        ({ roles }) =>
          role === null ||
          // A role counts for every weaker one, but not for that which nobody has.
          roles.some(
            (one) => one === role || (role !== "other" && reviewRoles.indexOf(one) < reviewRoles.indexOf(role))
          )
      ).length >= least
  )

/** Whether two lists name the same versions in the same order. */
export const isSameLayers = (a: ReadonlyArray<ReviewLayer>, b: ReadonlyArray<ReviewLayer>): boolean =>
  a.length === b.length &&
  a.every(({ envelopeId, version }, place) => envelopeId === b[place]!.envelopeId && version === b[place]!.version)
