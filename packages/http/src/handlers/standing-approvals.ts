/** Standing approvals. */
import type { standingApprovals } from "@flyball/contract/http"
import { StandingApprovals, knownAfter } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { emailOf, scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `standingApprovals`. */
export const standingApprovalsHandlers: HandlersOf<typeof standingApprovals> = {
  propose: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* StandingApprovals).propose(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  list: ({ caller, query }) =>
    StandingApprovals.use((approvals) =>
      Effect.andThen(
        knownAfter(query.after, (id) => approvals.get(id, scopeOf(caller))),
        approvals.list(query, scopeOf(caller))
      )
    ).pipe(Effect.map(json)),
  get: ({ caller, params }) =>
    StandingApprovals.use((approvals) => approvals.get(params.standing_approval_id, scopeOf(caller))).pipe(
      Effect.map(json)
    ),
  grant: Effect.fnUntraced(function* ({ caller, params }) {
    const approvals = yield* StandingApprovals
    const writer = yield* writerOf(caller)
    return json(yield* approvals.grant(params.standing_approval_id, writer, scopeOf(caller), emailOf(caller)))
  }),
  revoke: Effect.fnUntraced(function* ({ body, caller, params }) {
    const approvals = yield* StandingApprovals
    return json(
      yield* approvals.revoke(params.standing_approval_id, body ?? {}, yield* writerOf(caller), scopeOf(caller))
    )
  })
}
