/**
 * Look-up keys of reviews, and the ranges of them that lists read. Status and lists of open reviews follow from these:
 * what time alone changes (see `status.ts`) is decided on the few that a range reads.
 */
import { isWaiting } from "./approval.ts"
import type { ReviewDocument } from "./document.ts"

/** The end of a review; `live`: no record ended it. */
export type ReviewEnd = NonNullable<ReviewDocument["ended"]> | "live"

/** Names of the look-up keys of reviews. Each is an order in which they are read; see {@link reviewKeys}. */
export const REVIEW_KEYS = {
  /** All, by how they ended and when they were opened. */
  status: "status",
  /** The same of each agent. */
  agentStatus: "agent_status",
  /** Live ones that a person claimed, by when they were opened. */
  claimed: "claimed",
  /** Live ones, by the end of their time. */
  ends: "ends",
  /** Reviews that wait for people or for the agent, by the digest of the action. */
  action: "action",
  /** The same, by requester and question. */
  question: "question"
} as const

/** A time in the order of texts. Unit: milliseconds since 1970 UTC. */
const timeText = (atMs: number): string => String(atMs).padStart(16, "0")

/** The text that a list begins with: every value of it comes behind this and before {@link behindAll}. */
const beforeAll = (...words: ReadonlyArray<string>): string => words.map((word) => `${word} `).join("")

/** `!` is the character behind the space. */
const behindAll = (start: string): string => `${start.slice(0, -1)}!`

/**
 * Look-up keys of a review: one for each order in which reviews are read. A list of open reviews reads only those,
 * however many have ended.
 */
export const reviewKeys = (id: string, review: ReviewDocument): { readonly [key: string]: string } => {
  const { actionDigest, agentId, claimedBy, ended, expiresAtMs, openedAtMs } = review
  const question = isWaiting(review) ? questionKey(review) : null
  const end: ReviewEnd = ended ?? "live"
  const place = `${timeText(openedAtMs)} ${id}`
  return {
    [REVIEW_KEYS.status]: beforeAll(end) + place,
    [REVIEW_KEYS.agentStatus]: beforeAll(agentId, end) + place,
    ...(ended === null ? { [REVIEW_KEYS.ends]: `${timeText(expiresAtMs)} ${id}` } : {}),
    ...(ended === null && claimedBy !== null ? { [REVIEW_KEYS.claimed]: place } : {}),
    ...(isWaiting(review) ? { [REVIEW_KEYS.action]: beforeAll(actionDigest) + place } : {}),
    ...(question === null ? {} : { [REVIEW_KEYS.question]: question })
  }
}

/** Value of the key `question`; null where a part of it was erased. */
export const questionKey = ({
  actionDigest,
  agentId,
  question,
  requestedBy
}: Pick<ReviewDocument, "actionDigest" | "agentId" | "question" | "requestedBy">): string | null =>
  typeof question === "string" ? `${agentId} ${requestedBy} ${actionDigest} ${question}` : null

/** Unique keys of a review: no question is open twice at a time. */
export const reviewUnique = (review: ReviewDocument): { readonly [key: string]: string } => {
  const question = review.ended === null ? questionKey(review) : null
  return question === null ? {} : { asking: question }
}

/** Part of the values of a key: behind `after`, before `before`. */
export interface ReviewRange {
  readonly key: (typeof REVIEW_KEYS)[keyof typeof REVIEW_KEYS]
  readonly after: string
  readonly before: string
}

/**
 * Reviews that ended so, in the order in which they were opened.
 *
 * - Unit: `toMs` in milliseconds since 1970 UTC: those opened then or earlier.
 */
export const reviewsEnded = (end: ReviewEnd, agentId: string | null, toMs: number | null): ReviewRange => {
  const after = agentId === null ? beforeAll(end) : beforeAll(agentId, end)
  const key = agentId === null ? REVIEW_KEYS.status : REVIEW_KEYS.agentStatus
  return { key, after, before: toMs === null ? behindAll(after) : behindAll(`${after}${timeText(toMs)} `) }
}

/** Reviews of an action that wait for people or for the agent; as {@link reviewsEnded}. */
export const reviewsOfAction = (actionDigest: string, toMs: number | null): ReviewRange => {
  const after = beforeAll(actionDigest)
  return {
    key: REVIEW_KEYS.action,
    after,
    before: toMs === null ? behindAll(after) : behindAll(`${after}${timeText(toMs)} `)
  }
}

/** Live reviews that a person claimed; as {@link reviewsEnded}. A lease that ended counts until somebody acts. */
export const reviewsClaimed = (toMs: number | null): ReviewRange => ({
  key: REVIEW_KEYS.claimed,
  after: "",
  before: toMs === null ? ":" : behindAll(`${timeText(toMs)} `)
})

/** Live reviews whose time is over, by the end of their time. Unit: `atMs` in milliseconds since 1970 UTC. */
export const reviewsPastEnd = (atMs: number): ReviewRange => ({
  key: REVIEW_KEYS.ends,
  after: "",
  before: behindAll(`${timeText(atMs)} `)
})
