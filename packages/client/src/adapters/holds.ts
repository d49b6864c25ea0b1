/**
 * Guards calls of a framework in the order in which they came, and holds those that a person must approve.
 *
 * A hold ends before the framework's own time limit. Then the call is refused as pending, and a later call of the
 * same action with the same arguments takes up the same review. The review is known by the action and the digest of
 * its arguments, never by what the caller sends with the call.
 */
import type { AgentClient } from "../client.ts"
import type { KillWatch } from "../kill/kill-watch.ts"
import { ActionDenied } from "../enforce/denied.ts"
import { opensReview } from "../enforce/verdict.ts"
import { actionDigest } from "../action-digest.ts"
import type { Action, Running } from "../enforce/guard.ts"
import type { Evaluation, Json } from "../wire.ts"

/** How long a call waits for a person by default. Frameworks give up after 60 s. Unit: milliseconds. */
export const HOLD_MS = 50_000

/** Longest hold that a host may choose. Unit: milliseconds. */
export const MAX_HOLD_MS = 55_000

/** Reviews that are remembered. The oldest is forgotten; its action then opens a review of its own. */
const MAX_REMEMBERED = 1_000

/** Result of a wait for a review: the members that a hold reads. */
export interface ReviewState {
  readonly status: string
  readonly resolution?: string | null | undefined
  /** The reason that the people gave. */
  readonly reason?: string | null | undefined
}

/** Waits for reviews. `wait` answers the state of the review when the time has passed. */
export interface ReviewWaiter {
  readonly wait: (
    reviewId: string,
    options: { readonly withinMs: number; readonly signal: AbortSignal }
  ) => Promise<ReviewState>
}

/** Options of {@link makeHolds}. */
export interface HoldOptions {
  readonly agent: Pick<AgentClient, "guard"> & { readonly kill: Pick<KillWatch, "denial" | "onChange"> }
  /** Absent: nothing is waited for, and an action that a person must approve is pending at once. */
  readonly reviews?: ReviewWaiter | undefined
  /** Unit: milliseconds, 0 to {@link MAX_HOLD_MS}. */
  readonly holdMs?: number | undefined
}

/** Guards calls; `signal` is the caller's: once it aborts, a call that has not begun never begins. */
export interface Holds {
  readonly guard: <A>(
    action: Action,
    args: Json,
    effect: (running: Running) => A | Promise<A>,
    signal?: AbortSignal
  ) => Promise<A>
}

/** The caller gave up before the call began. */
export class CallCancelled extends Error {
  override readonly name = "CallCancelled"
  constructor(action: string) {
    super(`The action ${action} did not run: its caller cancelled it.`)
  }
}

/** Makes the holds of one agent. Refuses a hold that is longer than frameworks wait. */
export const makeHolds = ({ agent, holdMs = HOLD_MS, reviews }: HoldOptions): Holds => {
  if (!(holdMs >= 0 && holdMs <= MAX_HOLD_MS))
    throw new RangeError(`holdMs must be at least 0 and at most ${MAX_HOLD_MS}; it is ${holdMs}.`)
  /** Reviews that are not over, by action and arguments. */
  const remembered = new Map<string, string>()
  let turn: Promise<void> = Promise.resolve()

  const remember = (key: string, reviewId: string): void => {
    remembered.delete(key)
    remembered.set(key, reviewId)
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
  }

  /** The review's state once it is over, the time is, the agent is halted, or the caller gave up; null: not known. */
  const stateOf = async (
    evaluation: Evaluation,
    reviewId: string,
    signal: AbortSignal | undefined
  ): Promise<ReviewState | null> => {
    if (reviews === undefined || (holdMs === 0 && opensReview(evaluation))) return null
    const ending = new AbortController()
    const end = (): void => ending.abort()
    const release = agent.kill.onChange(() => {
      if (agent.kill.denial("side_effect") === "@killed") end()
    })
    signal?.addEventListener("abort", end)
    if (signal?.aborted === true || agent.kill.denial("side_effect") === "@killed") end()
    try {
      return ending.signal.aborted ? null : await reviews.wait(reviewId, { withinMs: holdMs, signal: ending.signal })
    } catch {
      return null
    } finally {
      release()
      signal?.removeEventListener("abort", end)
    }
  }

  return {
    guard: async (action, args, effect, signal) => {
      const before = turn
      let release = (): void => undefined
      turn = new Promise((resolve) => (release = resolve))
      // The verdict of one call may depend on the one before it: a batch is judged in order.
      await before
      let pending: Held | null = null
      try {
        if (signal?.aborted === true) throw new CallCancelled(action.name)
        const key = keyOf(action, args)
        if (key === null) return await agent.guard(action, args, effect)
        const known = action.approvalId ?? remembered.get(key)
        const onReview = async (evaluation: Evaluation): Promise<string | null> => {
          const { review_id: reviewId } = evaluation
          release()
          if (reviewId === null) return null
          remember(key, reviewId)
          const state = await stateOf(evaluation, reviewId, signal)
          const isOver = state !== null && state.status !== "open" && state.status !== "claimed"
          const resolution = isOver ? (state.resolution ?? state.status) : null
          pending = { reviewId, resolution, reason: state?.reason ?? null }
          if (!isOver) return null
          remembered.delete(key)
          return resolution === "approve" ? reviewId : null
        }
        const guarded = { ...action, onReview, ...(known === undefined ? {} : { approvalId: known }) }
        return await agent.guard(guarded, args, (running) => {
          release()
          remembered.delete(key)
          if (signal?.aborted === true) throw new CallCancelled(action.name)
          return effect(running)
        })
      } catch (cause) {
        throw cause instanceof ActionDenied ? explained(cause, pending) : cause
      } finally {
        release()
      }
    }
  }
}

/** A review that a call waited for. */
interface Held {
  readonly reviewId: string
  readonly resolution: string | null
  readonly reason: string | null
}

/** A refusal in words that a model can act on. */
const explained = (denied: ActionDenied, held: Held | null): ActionDenied => {
  if (denied.outcome !== "require_review" || held === null || denied.reviewId === null) return denied
  const { action, evaluation, rule } = denied
  if (held.resolution === null || denied.reviewId !== held.reviewId)
    return ActionDenied.saying(
      `pending ${denied.reviewId}: a person must approve the action ${action}. It did not run. ` +
        `Call it again with the same arguments later. ${denied.reason}`.trimEnd(),
      denied
    )
  const said = held.reason === null ? "" : ` Reason given: ${held.reason}`
  const ended = `The review ${held.reviewId} ended: ${held.resolution}.${said}`
  return new ActionDenied(action, "deny", rule, ended, evaluation)
}

/** Null where the arguments have no digest: the guard denies them. */
const keyOf = (action: Action, args: Json): string | null => {
  try {
    return JSON.stringify([action.name, action.toolServer ?? null, actionDigest(args)])
  } catch {
    return null
  }
}
