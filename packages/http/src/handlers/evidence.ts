/** Evidence packs. */
import { type evidence, PACK_MEDIA } from "@flyball/contract/http"
import { Packs, Principals, pageOf } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `evidence`. */
export const evidenceHandlers: HandlersOf<typeof evidence> = {
  create: Effect.fnUntraced(function* ({ body, caller }) {
    const packs = yield* Packs
    return json(yield* packs.request(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  list: Effect.fnUntraced(function* ({ caller, query }) {
    return json(yield* pageOf(yield* (yield* Packs).list(scopeOf(caller)), query, ({ id }) => id))
  }),
  download: Effect.fnUntraced(function* ({ caller, params }) {
    const packs = yield* Packs
    const principals = yield* Principals
    const writer = Effect.provideService(writerOf(caller), Principals, principals)
    const chunks = yield* packs.build(params.pack_id, writer, scopeOf(caller))
    return { kind: "stream", media: PACK_MEDIA, chunks, fileName: `${params.pack_id}.evp` } as const
  })
}
