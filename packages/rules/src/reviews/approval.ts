/** Decides if an approval counts for an evaluation. Pure: the live service and the verifier both run it. */
import { canonicalBytes, concatBytes, type Crypto, toHex, utf8 } from "@flyball/evidence"
import { type ReviewDocument, type ReviewLayer, type ReviewTerms, reviewRoles } from "./document.ts"
import { isPastEnd } from "./status.ts"

/** The evaluation that presents an approval. Spec: decision 0049. */
export interface Presenting {
  readonly agentId: string
  /** 64 hex digits; null where the request had none. */
  readonly actionDigest: string | null
  /** The versions in force. */
  readonly layers: ReadonlyArray<ReviewLayer>
  /** True when its action and its signals are those of the reviewed evaluation: see {@link questionOf}. */
  readonly isSameAction: boolean
  /** The people that its verdict asks for; null: not compared. */
  readonly terms: ReviewTerms | null
}

/**
 * Why an approval does not count; `approved` where it does. `open`: people have not answered yet. `superseded`: other
 * versions are in force than people answered under. `stricter`: the verdict asks for more people than approved. Spec:
 * decisions 0049 and 0064.
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
 * - Spec: decisions 0049 and 0064.
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

/** Containers that may be open at once in signals. */
const MAX_DEPTH = 64

/**
 * Digests the question to people, beside the digest of the arguments: the action and everything that its caller says of
 * it. Signals of the server are not among these. Answers 64 hex digits.
 *
 * - `signals`: as the evaluation uses them, so that they have an RFC 8785 form.
 * - `redactedArgs`: the arguments as they are shown, where that is not all of them: rules read these, and the digest of
 *   the action does not cover them.
 * - Spec: decision 0064.
 */
export const questionOf = (
  sha256: Crypto["sha256"],
  action: string | null,
  signals: unknown,
  redactedArgs: Uint8Array | null
): string =>
  toHex(
    sha256(
      concatBytes(
        utf8(`${JSON.stringify(action)}\n`),
        canonicalBytes(signals as never, MAX_DEPTH),
        ...(redactedArgs === null ? [] : [utf8("\n"), redactedArgs])
      )
    )
  )

/** True while people may answer a review, or approved it and nothing presented the approval. Ignores its end. */
export const isWaiting = ({ consumedBy, ended, resolution }: ReviewDocument): boolean =>
  ended === null || (ended === "resolved" && resolution === "approve" && consumedBy === null)

/** True when a review has as many approvals, and of such roles, as these terms ask for. */
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

/** True when two lists name the same versions in the same order. */
export const isSameLayers = (a: ReadonlyArray<ReviewLayer>, b: ReadonlyArray<ReviewLayer>): boolean =>
  a.length === b.length &&
  a.every(({ envelopeId, version }, place) => envelopeId === b[place]!.envelopeId && version === b[place]!.version)
