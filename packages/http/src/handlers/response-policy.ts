/** The response policy. */
import type { responsePolicy } from "@flyball/contract/http"
import { ResponsePolicies, type VersionedPolicy } from "@flyball/core"
import { Effect } from "effect"
import { jsonWith } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `responsePolicy`. */
export const responsePolicyHandlers: HandlersOf<typeof responsePolicy> = {
  get: ({ caller }) => ResponsePolicies.use((policies) => policies.get(scopeOf(caller))).pipe(Effect.map(policyAnswer)),
  set: Effect.fnUntraced(function* ({ body, caller, request }) {
    const policies = yield* ResponsePolicies
    const ifVersion = versionIn(request.headers["if-match"])
    return policyAnswer(yield* policies.set(body, yield* writerOf(caller), ifVersion))
  })
}

/** The rows, with the version as an ETag. */
const policyAnswer = ({ rows, version }: VersionedPolicy) => jsonWith({ etag: `"p${version}"` }, rows)

/** The version that an `If-Match` names; null without one, or for any version. One that is no version matches none. */
const versionIn = (header: string | undefined): number | null => {
  if (header === undefined || header.trim() === "*") return null
  const version = /^"p(\d{1,15})"$/.exec(header.trim())?.[1]
  return version === undefined ? -1 : Number(version)
}
