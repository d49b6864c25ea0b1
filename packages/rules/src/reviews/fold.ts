/** Folds the records of a review into the document that they say there is. */
import { partValue } from "../records/part-json.ts"
import type { ExpectedDocument, JsonMap, ReplayRecord } from "../records/record.ts"
import type { ReviewDocument, ReviewLayer, ReviewNeed, ReviewResolution, ReviewRole } from "./document.ts"
import { REVIEWS } from "./document.ts"

/**
 * The review that a record `review.opened` opens. `question`: known from the evaluation before it. Spec: format 1
 * section 8, `review.opened`.
 */
export const openedReview = (body: JsonMap, question: string | null = null): ReviewDocument => ({
  agentId: String(body["agent_id"]),
  evaluationId: String(body["evaluation_id"]),
  actionDigest: String(body["action_digest"]),
  question,
  matchedRule: String(body["matched_rule"]),
  layers: ((body["layers"] ?? []) as ReadonlyArray<JsonMap>).map((layer): ReviewLayer => ({
    envelopeId: String(layer["envelope_id"]),
    version: Number(layer["version"])
  })),
  needs: ((body["needs"] ?? []) as ReadonlyArray<JsonMap>).map((need): ReviewNeed => ({
    approvals: Number(need["approvals"]),
    role: typeof need["role"] === "string" ? (need["role"] as ReviewRole) : null
  })),
  twoPerson: body["two_person"] === true,
  requestedBy: String(body["writer"]),
  openedAtMs: Number(body["opened_at_ms"]),
  expiresAtMs: Number(body["expires_at_ms"]),
  ended: null,
  claimedBy: null,
  leaseUntilMs: null,
  approvals: [],
  resolution: null,
  resolvedAtMs: null,
  resolvedBy: [],
  reason: null,
  cancelCause: null,
  activationId: null,
  consumedBy: null,
  consumedResult: null
})

/**
 * The review after another of its records. Records of what it was shown to people change nothing. `reason`: the part of
 * the record. Spec: format 1 section 8, `review.resolved`; decision 0049.
 */
export const reviewAfter = (
  review: ReviewDocument,
  { body, kind }: Pick<ReplayRecord, "body" | "kind">,
  reason: string | null = null
): ReviewDocument => {
  switch (kind) {
    case "review.claimed":
      return body["given_back"] === true
        ? { ...review, ...unclaimed }
        : { ...review, claimedBy: String(body["writer"]), leaseUntilMs: Number(body["lease_until_ms"]) }
    case "review.resolved": {
      const by = String(body["writer"])
      const resolution = String(body["resolution"]) as ReviewResolution
      const ends = body["ends"] === true
      return {
        ...review,
        ...unclaimed,
        reason,
        approvals:
          resolution === "approve"
            ? [...review.approvals, { by, roles: (body["roles"] ?? []) as ReadonlyArray<ReviewRole> }]
            : review.approvals,
        resolvedBy: [...review.resolvedBy, by],
        ...(ends ? { ended: "resolved", resolution, resolvedAtMs: Number(body["resolved_at_ms"]) } : {})
      }
    }
    case "review.expired":
      return { ...review, ...unclaimed, ended: "expired" }
    case "review.cancelled":
      return {
        ...review,
        ...unclaimed,
        ended: "cancelled",
        reason,
        cancelCause: String(body["cause"]) as ReviewDocument["cancelCause"],
        activationId: typeof body["activation_id"] === "string" ? body["activation_id"] : null
      }
    case "review.consumed":
      return {
        ...review,
        consumedBy: String(body["evaluation_id"]),
        consumedResult: String(body["result"]) as ReviewDocument["consumedResult"]
      }
  }
  return review
}

const unclaimed = { claimedBy: null, leaseUntilMs: null } as const

/** The document after `review.opened`. */
export const foldReviewOpened = ({ body }: ReplayRecord): ExpectedDocument => ({
  collection: REVIEWS,
  id: String(body["review_id"]),
  body: openedReview(body) as unknown as JsonMap,
  unique: {},
  unknown: ["question"],
  erased: [],
  personal: ["reason"]
})

/** Kinds of records of reviews whose parts the fold reads. */
export const reviewKindsWithParts: ReadonlyArray<string> = ["review.resolved", "review.cancelled"]

/** The document after another record of its review. */
export const foldReview = (document: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const read = partValue(record.parts.get("reason"))
  const reason = read.state === "known" && typeof read.value === "string" ? read.value : null
  const next = {
    ...document,
    body: reviewAfter(document.body as unknown as ReviewDocument, record, reason) as unknown as JsonMap
  }
  if (!reviewKindsWithParts.includes(record.kind)) return next
  const isKnown = read.state === "known" || read.state === "absent" || read.state === "erased"
  return {
    ...next,
    unknown: ["question", ...(isKnown ? [] : ["reason"])],
    erased: read.state === "erased" ? ["reason"] : []
  }
}
