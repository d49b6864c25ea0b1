/** Models. */
import type { models } from "@flyball/contract/http"
import { Models } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { writerOf } from "../caller.ts"

/** Handlers of the group `models`. */
export const modelsHandlers: HandlersOf<typeof models> = {
  list: () => Models.use(({ list }) => list).pipe(Effect.map(json)),
  create: Effect.fnUntraced(function*({ body, caller }) {
    return json(yield* (yield* Models).create(body, yield* writerOf(caller)))
  }),
  update: Effect.fnUntraced(function*({ body, caller, params }) {
    return json(yield* (yield* Models).update(params.model_id, body, yield* writerOf(caller)))
  })
}
