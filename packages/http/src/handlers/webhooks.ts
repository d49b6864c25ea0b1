/** Webhooks. */
import type { webhooks } from "@flyball/contract/http"
import { Webhooks } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { emailOf, writerOf } from "../request/caller.ts"
import { pageOf } from "../answer/page-of.ts"

/** Handlers of the group `webhooks`. */
export const webhooksHandlers: HandlersOf<typeof webhooks> = {
  create: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Webhooks).create(body, yield* writerOf(caller), emailOf(caller)))
  }),
  list: Effect.fnUntraced(function* ({ query }) {
    return json(yield* pageOf(yield* (yield* Webhooks).list, query, ({ id }) => id))
  }),
  get: ({ params }) => Webhooks.use((webhooks) => webhooks.get(params.webhook_id)).pipe(Effect.map(json)),
  test: ({ params }) => Webhooks.use((webhooks) => webhooks.test(params.webhook_id)).pipe(Effect.map(json)),
  revoke: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Webhooks).revoke(params.webhook_id, yield* writerOf(caller)))
  }),
  rotateSecret: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Webhooks).rotateSecret(params.webhook_id, body, yield* writerOf(caller)))
  }),
  completeRotation: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Webhooks).completeRotation(params.webhook_id, yield* writerOf(caller)))
  }),
  disable: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Webhooks).disable(params.webhook_id, yield* writerOf(caller)))
  }),
  enable: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Webhooks).enable(params.webhook_id, yield* writerOf(caller)))
  }),
  deliveries: ({ params, query }) =>
    Webhooks.use((webhooks) => webhooks.deliveries(params.webhook_id, query)).pipe(Effect.map(json)),
  redeliver: ({ params }) =>
    Webhooks.use((webhooks) => webhooks.redeliver(params.webhook_id, params.delivery_id)).pipe(Effect.map(json)),
  recover: ({ body, params }) =>
    Webhooks.use((webhooks) => webhooks.recover(params.webhook_id, body)).pipe(Effect.map(json))
}
