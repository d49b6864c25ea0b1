/** Remembers which review an action waits for, so that the same call continues with it later. */
import { actionDigest } from "../action-digest.ts"
import type { Action } from "./guard.ts"
import type { Verdict } from "./verdict.ts"

/** The note of a verdict; one of the client says nothing of a review. */
type Noted = Verdict | { readonly by: "cache" }
import type { Json } from "../wire.ts"

/** Reviews that are remembered. The oldest is forgotten; its action then opens a review of its own. */
const MAX_REMEMBERED = 1_000

/** The reviews that actions of one agent wait for. Known by the action and its arguments, and by nothing else. */
export interface PendingReviews {
  /** The action with the review that it waits for. */
  readonly resumed: (action: Action, args: Json) => Action
  /** Takes a verdict: an open review is remembered, anything else of the server ends it. */
  readonly note: (action: Action, args: Json, verdict: Noted) => void
}

/** Remembers nothing yet. */
export const makePendingReviews = (): PendingReviews => {
  const remembered = new Map<string, string>()
  return {
    resumed: (action, args) => {
      // A host without reviews pays for no digest here.
      const approvalId = remembered.size === 0 ? undefined : remembered.get(keyOf(action, args))
      return action.approvalId !== undefined || approvalId === undefined ? action : { ...action, approvalId }
    },
    note: (action, args, verdict) => {
      // A denial of the client says nothing of the review: it stays the one to continue with.
      if (verdict.by !== "server") return
      const { outcome, review_id: reviewId } = verdict.evaluation
      const isWaiting = outcome === "require_review" && reviewId !== null
      if (!isWaiting && remembered.size === 0) return
      const key = keyOf(action, args)
      remembered.delete(key)
      if (!isWaiting) return
      remembered.set(key, reviewId)
      if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    }
  }
}

const keyOf = ({ name, toolServer }: Action, args: Json): string =>
  JSON.stringify([name, toolServer ?? null, actionDigest(args)])
