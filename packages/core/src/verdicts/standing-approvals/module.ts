/** Standing approvals as a module. Spec: decision 0050. */
import { standingApprovals as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { knownAfter } from "../../capability/page-of.ts"
import type { Scope } from "../../foundation/scope.ts"
import { StandingApprovals } from "./service.ts"

const get = (id: string, scope: Scope) => StandingApprovals.use((approvals) => approvals.get(id, scope))

const operations = {
  propose: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* StandingApprovals).propose(body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    yield* knownAfter(query.after, (id) => get(id, scope))
    return yield* (yield* StandingApprovals).list(query, scope)
  }),
  get: ({ params }, { scope }) => get(params.standing_approval_id, scope),
  grant: Effect.fnUntraced(function* ({ params }, { email, scope, writer }) {
    return yield* (yield* StandingApprovals).grant(params.standing_approval_id, yield* writer, scope, email)
  }),
  revoke: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* StandingApprovals).revoke(params.standing_approval_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Standing approvals: approvals in advance, of a box of inputs. Spec: decision 0050. */
export const standingApprovals: Module<
  "standing_approvals",
  typeof rows,
  typeof operations,
  typeof StandingApprovals.layer
> = defineModule({
  name: "standing_approvals",
  rows,
  operations,
  layer: StandingApprovals.layer,
  reads: [{ missing: "StandingApprovalNotFound", member: "standingApprovalId", param: "standing_approval_id", get }]
})
