/** The response policy. */
import type { responsePolicy } from "@flyball/contract/http"
import { ResponsePolicies } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { scopeOf, writerOf } from "../caller.ts"

/** Handlers of the group `responsePolicy`. */
export const responsePolicyHandlers: HandlersOf<typeof responsePolicy> = {
  get: ({ caller }) => ResponsePolicies.use((policies) => policies.get(scopeOf(caller))).pipe(Effect.map(json)),
  set: Effect.fnUntraced(function* ({ body, caller }) {
    const policies = yield* ResponsePolicies
    return json(yield* policies.set(body, yield* writerOf(caller)))
  })
}
