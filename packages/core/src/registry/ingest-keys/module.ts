/** Ingest keys as a module. Spec: document 1 section 5; decision 0037. */
import { IngestKeyNotFound, type IngestKeyOut, OrgUnitNotAllowed } from "@flyball/contract"
import { ingestKeys as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { covers, type Scope } from "../../foundation/scope.ts"
import { IngestKeys } from "./service.ts"

/** The keys that an administrator of these units sees. */
const visible = (scope: Scope) =>
  Effect.map(
    IngestKeys.use((keys) => keys.list),
    (keys): ReadonlyArray<IngestKeyOut> => keys.filter((key) => covers(scope, key.org_unit))
  )

const operations = {
  mint: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    if (!covers(scope, body.org_unit)) return yield* new OrgUnitNotAllowed({})
    return yield* (yield* IngestKeys).mint(body, yield* writer)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    return yield* pageOf(yield* visible(scope), query, ({ id }) => id)
  }),
  revoke: Effect.fnUntraced(function* ({ params: { key_id: id } }, { scope, writer }) {
    const seen = yield* visible(scope)
    if (!seen.some((key) => key.id === id)) return yield* new IngestKeyNotFound({ keyId: id })
    return yield* (yield* IngestKeys).revoke(id, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** Ingest keys: the tokens of agents that call the HTTP API. Spec: decision 0037. */
export const ingestKeys: Module<"ingest_keys", typeof rows, typeof operations, typeof IngestKeys.layer> = defineModule({
  name: "ingest_keys",
  rows,
  operations,
  layer: IngestKeys.layer
})
