/** Whether an approval counts for an evaluation. Pure: the live service and the verifier both run it. */
import type { Outcome } from "@flyball/envelope"
import type { ReviewDocument, ReviewLayer } from "./document.ts"

/** The evaluation that presents an approval. */
export interface Presenting {
  readonly agentId: string
  /** 64 hex digits; null where the request had none. */
  readonly actionDigest: string | null
  /** The versions in force. */
  readonly layers: ReadonlyArray<ReviewLayer>
}

/**
 * Why an approval does not count; `approved` where it does. `open`: people have not answered yet. `superseded`: other
 * versions are in force than people answered under.
 */
export type ApprovalState = "approved" | "open" | "not_approved" | "other_action" | "reused" | "expired" | "superseded"

/**
 * How an approval stands for an evaluation at a time. It lives until the review's own end, counts once, and counts for
 * the very action of the very agent under the very versions that people saw.
 *
 * - Unit: `atMs` in milliseconds since 1970 UTC.
 */
export const approvalState = (review: ReviewDocument, by: Presenting, atMs: number): ApprovalState => {
  if (review.agentId !== by.agentId || review.actionDigest !== by.actionDigest) return "other_action"
  if (review.consumedBy !== null) return "reused"
  if (review.ended === "expired" || (review.ended !== "cancelled" && review.expiresAtMs <= atMs)) return "expired"
  if (review.ended === null) return "open"
  if (review.ended !== "resolved" || review.resolution !== "approve") return "not_approved"
  return isSameLayers(review.layers, by.layers) ? "approved" : "superseded"
}

/** Result of presenting an approval; null where it stays as it is. */
export const consumption = (state: ApprovalState, outcome: Outcome): "used" | "voided" | null =>
  state === "superseded"
    ? "voided"
    : state !== "approved"
      ? null
      : outcome === "allow" || outcome === "allow_with_notice"
        ? "used"
        : "voided"

/** Whether two lists name the same versions in the same order. */
export const isSameLayers = (a: ReadonlyArray<ReviewLayer>, b: ReadonlyArray<ReviewLayer>): boolean =>
  a.length === b.length &&
  a.every(({ envelopeId, version }, place) => envelopeId === b[place]!.envelopeId && version === b[place]!.version)
