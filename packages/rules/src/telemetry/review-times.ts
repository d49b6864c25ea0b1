/** How long reviews waited for people, and how long people took. Pure. */
import type { Json, ReplayRecord } from "../records/record.ts"

/** Kinds of records about reviews. */
export const reviewKinds = [
  "review.cancelled",
  "review.claimed",
  "review.expired",
  "review.opened",
  "review.presented",
  "review.resolved"
] as const

/** An approval in less than this is counted: the person hardly read it. Unit: milliseconds. Spec: envelopes.md 3.11. */
export const QUICK_APPROVAL_MS = 5_000

/** Counts and times of the reviews of one agent. */
export interface ReviewTotals {
  opened: number
  approved: number
  rejected: number
  amended: number
  expired: number
  cancelled: number
  /** Approvals of a person in less than {@link QUICK_APPROVAL_MS}. */
  quickApprovals: number
  /** Of each answer of a person: from when it was shown to that person. Unit: milliseconds. */
  readonly decisionMs: Array<number>
  /** Of each review that people ended: since it was opened. Unit: milliseconds. */
  readonly waitMs: Array<number>
}

/** None. */
export const noReviews = (): ReviewTotals => ({
  opened: 0,
  approved: 0,
  rejected: 0,
  amended: 0,
  expired: 0,
  cancelled: 0,
  quickApprovals: 0,
  decisionMs: [],
  waitMs: []
})

interface OpenReview {
  readonly agentId: string
  readonly openedAtMs: number
  /** When it was first presented to a person, and first claimed by one. */
  readonly presented: ReadonlyArray<readonly [writer: string, atMs: number]>
  readonly claimed: ReadonlyArray<readonly [writer: string, atMs: number]>
}

/** The reviews that are open at one place of the chain. */
export class OpenReviews {
  readonly #open: Map<string, OpenReview>

  /** `json`: what {@link toJson} gave. */
  constructor(json: Json = []) {
    this.#open = new Map(json as unknown as ReadonlyArray<readonly [string, OpenReview]>)
  }

  /** Takes a record of {@link reviewKinds}, and counts it for its agent. */
  take(
    { body, kind }: Pick<ReplayRecord, "body" | "kind">,
    atMs: number,
    totalsOf: (agentId: string) => ReviewTotals
  ): void {
    const id = String(body["review_id"])
    if (kind === "review.opened") {
      const agentId = String(body["agent_id"])
      this.#open.set(id, { agentId, openedAtMs: atMs, presented: [], claimed: [] })
      totalsOf(agentId).opened++
      return
    }
    const review = this.#open.get(id)
    if (review === undefined) return
    const writer = String(body["writer"])
    switch (kind) {
      case "review.presented":
        this.#open.set(id, { ...review, presented: firstOf(review.presented, writer, atMs) })
        return
      case "review.claimed":
        if (body["given_back"] !== true)
          this.#open.set(id, { ...review, claimed: firstOf(review.claimed, writer, atMs) })
        return
      case "review.resolved": {
        const since = timeOf(review.presented, writer) ?? timeOf(review.claimed, writer) ?? review.openedAtMs
        const totals = totalsOf(review.agentId)
        totals.decisionMs.push(atMs - since)
        const { resolution } = body
        if (resolution === "approve" && atMs - since < QUICK_APPROVAL_MS) totals.quickApprovals++
        if (body["ends"] !== true) return
        if (resolution === "approve") totals.approved++
        else if (resolution === "reject") totals.rejected++
        else totals.amended++
        totals.waitMs.push(atMs - review.openedAtMs)
        this.#open.delete(id)
        return
      }
      case "review.expired":
        totalsOf(review.agentId).expired++
        this.#open.delete(id)
        return
      case "review.cancelled":
        totalsOf(review.agentId).cancelled++
        this.#open.delete(id)
    }
  }

  /** When each open review of an agent was opened. Unit: milliseconds. */
  list(): ReadonlyArray<{ readonly agentId: string; readonly openedAtMs: number }> {
    return [...this.#open.values()]
  }

  /** As plain data. */
  toJson(): Json {
    return [...this.#open] as unknown as Json
  }
}

type Times = OpenReview["presented"]

const timeOf = (times: Times, writer: string): number | undefined => times.find(([one]) => one === writer)?.[1]
const firstOf = (times: Times, writer: string, atMs: number): Times =>
  timeOf(times, writer) === undefined ? [...times, [writer, atMs]] : times
