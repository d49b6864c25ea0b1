/** The access mapping. */
import type { accessMapping } from "@flyball/contract/http"
import { AccessMapping, resolveDraft } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { writerOf } from "../request/caller.ts"

/** Handlers of the group `accessMapping`. */
export const accessMappingHandlers: HandlersOf<typeof accessMapping> = {
  get: () => AccessMapping.use((mapping) => mapping.get).pipe(Effect.map(json)),
  set: Effect.fnUntraced(function* ({ body, caller }) {
    const mapping = yield* AccessMapping
    return json(yield* mapping.set(body, yield* writerOf(caller)))
  }),
  resolveDraft: ({ body }) => Effect.succeed(json(resolveDraft(body)))
}
