/** Waits for the people who answer a review. */
import { reviewResolutions, reviewStatuses } from "@flyball/evidence/words"
import { awaitedPause, type ClientClock } from "../clock.ts"
import type { Answer, Caller } from "../http/caller.ts"
import { refusedAsClosed, refusedBy } from "../http/server-refused.ts"
import { isStopping } from "../kill/kill-view.ts"
import type { KillWatch } from "../kill/kill-watch.ts"
import type { Review } from "../wire.ts"

/** Options of a wait. Unit: milliseconds. */
export interface ReviewWait {
  readonly withinMs: number
  /** Ends the wait early, as a halt of the agent does. */
  readonly signal?: AbortSignal
}

/** The reviews of one agent. Spec: decision 0049. */
export interface Reviews {
  /**
   * Answers the review once it is over, or as it stands when the time is: a wait that ends is no answer of a person.
   * Throws `ServerRefused` where the server refuses to say, or could not be reached at all; and at once, with status 0
   * and the answer "the client is closed", when the client is closed, before or during the wait.
   */
  readonly wait: (reviewId: string, wait: ReviewWait) => Promise<Review>
}

/** Options of waits for reviews. Unit: milliseconds. */
export interface ReviewsOptions {
  readonly caller: Caller
  readonly clock: ClientClock
  readonly kill: KillWatch
  readonly timeoutMs: number
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal
}

/** Longest that `guard` waits for a person. Unit: milliseconds. */
export const MAX_HOLD_MS = 3_600_000

/** Longest that the server holds one question. Spec: api.md, GET /bound/reviews/{id}. Unit: milliseconds. */
const MAX_WAIT_MS = 25_000

/** Pause after no answer, and after one that came at once and said nothing new. Unit: milliseconds. */
const PAUSE_MS = 1_000

/** Makes the reviews of one agent. */
export const reviewsOf = ({ caller, clock, closed, kill, timeoutMs }: ReviewsOptions): Reviews => ({
  wait: async (reviewId, { signal, withinMs }) => {
    const ending = new AbortController()
    const end = (): void => ending.abort()
    const release = kill.onChange(({ response }) => {
      if (isStopping(response)) end()
    })
    for (const one of [signal, closed]) one?.addEventListener("abort", end)
    if (closed.aborted || signal?.aborted === true || isStopping(kill.view().response)) end()
    const untilMs = clock.monotonicMs() + withinMs
    let seen: Review | null = null
    let last: Answer = {
      kind: "unreachable",
      reason: "the wait was ended before the server answered",
      retryAfterMs: null,
      isSlow: false
    }
    try {
      while (!ending.signal.aborted) {
        const leftMs = Math.max(0, untilMs - clock.monotonicMs())
        const waitMs = Math.min(Math.floor(leftMs), MAX_WAIT_MS)
        const path = `/api/v1/bound/reviews/${encodeURIComponent(reviewId)}?wait_ms=${waitMs}`
        const sentMs = clock.monotonicMs()
        const answer = await caller.send({ method: "GET", path, timeoutMs: waitMs + timeoutMs, signal: ending.signal })
        if (ending.signal.aborted) break
        last = answer
        // A page of a proxy in between is no answer.
        if (answer.kind === "answer" && answer.body !== undefined) {
          const review = answer.status === 200 ? readReview(answer.body, reviewId) : null
          if (review === null) throw refusedBy(`The review ${reviewId} could not be read`, answer)
          if (isOver(review)) return review
          seen = review
        }
        if (clock.monotonicMs() >= untilMs) break
        const isQuick = clock.monotonicMs() - sentMs < PAUSE_MS
        const pauseMs = answer.kind === "unreachable" ? Math.max(answer.retryAfterMs ?? 0, PAUSE_MS) : PAUSE_MS
        if (isQuick) await awaitedPause(clock, Math.min(pauseMs, untilMs - clock.monotonicMs()), ending.signal)
      }
    } finally {
      release()
      for (const one of [signal, closed]) one?.removeEventListener("abort", end)
    }
    // A caller that waits again and again for an open review would do so for ever.
    if (closed.aborted) throw refusedAsClosed(`The review ${reviewId} could not be read`)
    if (seen !== null) return seen
    throw refusedBy(`The review ${reviewId} could not be read`, last)
  }
})

const isOver = ({ status }: Review): boolean => status !== "open" && status !== "claimed"

/** The review of this id, if the answer is it and has what the client relies on. */
const readReview = (body: unknown, reviewId: string): Review | null => {
  if (typeof body !== "object" || body === null) return null
  const { id, resolution = null, status } = body as { readonly [name: string]: unknown }
  return id === reviewId &&
    reviewStatuses.some((one) => one === status) &&
    (resolution === null || reviewResolutions.some((one) => one === resolution))
    ? (body as Review)
    : null
}
