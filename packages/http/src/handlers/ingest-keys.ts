/** Ingest keys. */
import { IngestKeyNotFound, type IngestKeyOut, OrgUnitNotAllowed } from "@flyball/contract"
import type { ingestKeys } from "@flyball/contract/http"
import { covers, IngestKeys, type Scope, pageOf } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `ingestKeys`. */
export const ingestKeysHandlers: HandlersOf<typeof ingestKeys> = {
  mint: Effect.fnUntraced(function* ({ body, caller }) {
    if (!covers(scopeOf(caller), body.org_unit)) return yield* new OrgUnitNotAllowed({})
    const keys = yield* IngestKeys
    return json(yield* keys.mint(body, yield* writerOf(caller)))
  }),
  list: Effect.fnUntraced(function* ({ caller, query }) {
    return json(yield* pageOf(yield* visible(scopeOf(caller)), query, ({ id }) => id))
  }),
  revoke: Effect.fnUntraced(function* ({ caller, params }) {
    const seen = yield* visible(scopeOf(caller))
    if (!seen.some(({ id }) => id === params.key_id)) return yield* new IngestKeyNotFound({ keyId: params.key_id })
    const keys = yield* IngestKeys
    return json(yield* keys.revoke(params.key_id, yield* writerOf(caller)))
  })
}

/** The keys that an administrator of these units sees. */
const visible = (scope: Scope) =>
  Effect.map(
    IngestKeys.use((keys) => keys.list),
    (keys): ReadonlyArray<IngestKeyOut> => keys.filter((key) => covers(scope, key.org_unit))
  )
