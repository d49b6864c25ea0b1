/** Models. */
import type { models } from "@flyball/contract/http"
import { Models } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { writerOf } from "../request/caller.ts"
import { pageOf } from "../answer/page-of.ts"

/** Handlers of the group `models`. */
export const modelsHandlers: HandlersOf<typeof models> = {
  list: Effect.fnUntraced(function* ({ query }) {
    return json(yield* pageOf(yield* (yield* Models).list, query, ({ id }) => id))
  }),
  create: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Models).create(body, yield* writerOf(caller)))
  }),
  update: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Models).update(params.model_id, body, yield* writerOf(caller)))
  })
}
