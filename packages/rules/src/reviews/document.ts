/** A review as state: what people are to answer, and what they answered. Plain data. */
import { reviewCancelCauses, reviewResolutions } from "@flyball/evidence/words"
import { decodeId, encodeId } from "@flyball/evidence"
import type { Decision } from "@flyball/envelope"

export { reviewCancelCauses, reviewResolutions }

/** Collection of the reviews: one document each, under its id `rev_…`. */
export const REVIEWS = "reviews"

/** The once scope of the records that open reviews: each is found by its review's id. */
export const REVIEW_SCOPE = "review"

/** The once scope of what people were shown: once for each review, person and digest. */
export const PRESENTED_SCOPE = "review_presented"

/** How long a review waits where its envelope does not say. Unit: milliseconds. */
export const DEFAULT_REVIEW_MS = 86_400_000

/** Duration of a claim of a review. Unit: milliseconds. Spec: envelopes.md 3.11. */
export const REVIEW_LEASE_MS = 900_000

/**
 * Roles that answer reviews, strongest first; each may do what the ones after it may. `other`: a role that the service
 * does not give, which nobody has. Spec: decision 0049.
 */
export const reviewRoles = ["admin", "governor", "operator", "reviewer", "other"] as const

/** One of {@link reviewRoles}. */
export type ReviewRole = (typeof reviewRoles)[number]

/** Roles of the service whose people answer reviews, strongest first. Spec: decision 0049. */
export const answeringRoles: ReadonlyArray<string> = reviewRoles.filter((role) => role !== "other")

/** One of {@link reviewResolutions}. */
export type ReviewResolution = (typeof reviewResolutions)[number]

/** One of {@link reviewCancelCauses}. */
export type ReviewCancelCause = (typeof reviewCancelCauses)[number]

/** Number of different people of a role; null: of any role that answers reviews. */
export type ReviewNeed = { readonly approvals: number; readonly role: ReviewRole | null }

/** An approval: whose, and which of the roles needed that person has. */
export type ReviewApproval = { readonly by: string; readonly roles: ReadonlyArray<ReviewRole> }

/** The version of an envelope that a review was opened under. */
export type ReviewLayer = { readonly envelopeId: string; readonly version: number }

/**
 * A review. Times in milliseconds since 1970 UTC. What time alone changes is not in it: see `status.ts`. Spec: format 1
 * section 8, `review.opened`; decision 0049.
 */
export type ReviewDocument = {
  readonly agentId: string
  readonly evaluationId: string
  readonly actionDigest: string
  /**
   * Digest of the question to people beside the arguments, see `questionOf`. Derives from parts, so no record's body
   * has it; null once one of these parts was erased.
   */
  readonly question: string | null
  readonly matchedRule: string
  readonly layers: ReadonlyArray<ReviewLayer>
  readonly needs: ReadonlyArray<ReviewNeed>
  readonly twoPerson: boolean
  readonly requestedBy: string
  readonly openedAtMs: number
  readonly expiresAtMs: number
  readonly ended: "resolved" | "expired" | "cancelled" | null
  readonly claimedBy: string | null
  readonly leaseUntilMs: number | null
  readonly approvals: ReadonlyArray<ReviewApproval>
  /** Of a resolved one. */
  readonly resolution: ReviewResolution | null
  readonly resolvedAtMs: number | null
  /** Everybody who answered, in order. */
  readonly resolvedBy: ReadonlyArray<string>
  /** The reason of the last answer or of the withdrawal; null where none was given, and once it was erased. */
  readonly reason: string | null
  readonly cancelCause: ReviewCancelCause | null
  readonly activationId: string | null
  /** The evaluation that presented the approval; null while none did. */
  readonly consumedBy: string | null
  readonly consumedResult: "used" | "voided" | null
}

/**
 * The review that an evaluation opens: the same 128 bits under another prefix. Spec: format 1 section 8,
 * `review.opened`.
 */
export const reviewIdOf = (evaluationId: string): string => encodeId("rev_", decodeId("evl_", evaluationId)!)

/** Terms that the obligations of a verdict set for a review. */
export interface ReviewTerms {
  readonly needs: ReadonlyArray<ReviewNeed>
  readonly twoPerson: boolean
  readonly ttlMs: number
}

/**
 * The terms that merged obligations set: of `reviewers` each role by itself and the shortest time, at least one
 * approval; `two_person` asks for two people. Spec: `envelope/1` section 7; decision 0049.
 */
export const reviewTerms = (obligations: Decision["obligations"]): ReviewTerms => {
  const twoPerson = obligations.some(({ type }) => type === "two_person")
  const byRole = new Map<ReviewRole, number>()
  let ttlMs = DEFAULT_REVIEW_MS
  let hasTtl = false
  for (const one of obligations) {
    if (one.type !== "reviewers") continue
    const role = roleNamed(one.role)
    byRole.set(role, Math.max(1, one.approvals, byRole.get(role) ?? 0))
    ttlMs = hasTtl ? Math.min(ttlMs, one.ttlMs) : one.ttlMs
    hasTtl = true
  }
  const needs: Array<ReviewNeed> = [...byRole].map(([role, approvals]) => ({ role, approvals }))
  const people = twoPerson ? 2 : 1
  if (!needs.some(({ approvals }) => approvals >= people)) needs.push({ role: null, approvals: people })
  return { needs, twoPerson, ttlMs }
}

const roleNamed = (role: string): ReviewRole => reviewRoles.find((one) => one === role) ?? "other"

/**
 * The highest number of people that one of the needs requires. Spec: format 1 section 8, `review.opened`; decision
 * 0049.
 */
export const approvalsNeeded = (needs: ReadonlyArray<ReviewNeed>): number =>
  Math.max(...needs.map(({ approvals }) => approvals))

/**
 * True when these approvals meet every need. One person counts for each role that the person has. Spec: format 1
 * section 8, `review.resolved`; decision 0049.
 */
export const isApproved = (needs: ReadonlyArray<ReviewNeed>, approvals: ReadonlyArray<ReviewApproval>): boolean =>
  needs.every(
    ({ approvals: least, role }) =>
      approvals.filter(({ roles }) => role === null || roles.includes(role)).length >= least
  )

/**
 * The roles needed that a person with these roles has. A role counts for every weaker one. `any`: the host answers for
 * the person. Spec: decision 0049.
 */
export const rolesHeld = (
  needs: ReadonlyArray<ReviewNeed>,
  held: ReadonlyArray<string> | "any"
): ReadonlyArray<ReviewRole> => {
  const strongest = held === "any" ? 0 : reviewRoles.findIndex((role) => role !== "other" && held.includes(role))
  return needs.flatMap(({ role }) =>
    role === null || (held !== "any" && (role === "other" || strongest < 0 || strongest > reviewRoles.indexOf(role)))
      ? []
      : [role]
  )
}

/** True when a person with these of the needed roles can contribute to a review. Spec: decision 0049. */
export const canServe = (needs: ReadonlyArray<ReviewNeed>, roles: ReadonlyArray<ReviewRole>): boolean =>
  needs.some(({ role }) => role === null || roles.includes(role))
