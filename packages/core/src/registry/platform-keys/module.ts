/** Platform keys as a module. Spec: document 2 section 5; api.md "Document 2". */
import { OrgUnitNotAllowed, PlatformKeyNotFound, type PlatformKeyOut } from "@flyball/contract"
import { platformKeys as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { covers, type Scope } from "../../foundation/scope.ts"
import { PlatformKeys } from "./service.ts"

/** The keys that an administrator of these units sees. */
const visible = (scope: Scope) =>
  Effect.map(
    PlatformKeys.use((keys) => keys.list),
    (keys): ReadonlyArray<PlatformKeyOut> => keys.filter((key) => covers(scope, key.org_unit))
  )

const operations = {
  mint: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    if (!covers(scope, body.org_unit)) return yield* new OrgUnitNotAllowed({})
    return yield* (yield* PlatformKeys).mint(body, yield* writer)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    return yield* pageOf(yield* visible(scope), query, ({ id }) => id)
  }),
  revoke: Effect.fnUntraced(function* ({ params: { platform_key_id: id } }, { scope, writer }) {
    const seen = yield* visible(scope)
    if (!seen.some((key) => key.id === id)) return yield* new PlatformKeyNotFound({ keyId: id })
    return yield* (yield* PlatformKeys).revoke(id, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** Platform keys: the tokens of callers of the platform API. Spec: document 2 section 5. */
export const platformKeys: Module<"platform_keys", typeof rows, typeof operations, typeof PlatformKeys.layer> =
  defineModule({ name: "platform_keys", rows, operations, layer: PlatformKeys.layer })
