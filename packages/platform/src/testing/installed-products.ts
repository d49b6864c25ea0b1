/** Products that answer every row of gateway, documents and fleet, for tests of what stands before them. */
import { ExtractionNotFound } from "@flyball/contract"
import { documents, gateway, type ReceivedFile } from "@flyball/contract/http"
import {
  beside,
  type Capability,
  defineModule,
  Lists,
  oneUnit,
  type OperationCaller,
  quotaExceeded,
  Quotas,
  unitOwner
} from "@flyball/core"
import { Effect, Layer } from "effect"

const created_at = "1970-01-01T00:00:00Z"
const queued = {
  id: "ext",
  status: "queued",
  document_type: "unknown",
  agent_id: null,
  media_type: "text/plain",
  bytes: 1,
  document_digest: `sha256:${"0".repeat(64)}`,
  confidence: null,
  fields: {},
  warnings: [],
  error: null,
  created_at,
  completed_at: null
} as const
const none = ({ query }: { readonly query: { readonly org_unit?: string } }, { scope }: OperationCaller) =>
  Effect.andThen(oneUnit(scope, query.org_unit), Effect.fail(new ExtractionNotFound({})))

/** Uses what it may use. */
const completion = Effect.fnUntraced(function* (
  { body: { model } }: { readonly body: { readonly model: string } },
  { account }: OperationCaller
) {
  const quotas = yield* Quotas
  const reserved = yield* beside(quotas.reserve(account!.use!, 60_000))
  if (!reserved.reserved) return yield* quotaExceeded("tokens", reserved.resetS)
  yield* Effect.orDie(beside(quotas.settle(reserved.reservation, reserved.reservation.amount)))
  const body = new TextEncoder().encode(JSON.stringify({ model }))
  return { status: 200, media: "application/json", headers: {}, body }
})

/** A capability with the three products. `extract` sees each document while its request has no answer. */
export const installedProducts = (
  extract: (document: ReceivedFile | object) => void = () => undefined
): Capability => ({
  name: "products",
  modules: [
    defineModule({
      name: "gateway",
      rows: gateway,
      operations: { chat: completion, messages: completion, responses: completion, sdkMessages: completion },
      layer: Layer.empty
    }),
    defineModule({
      name: "documents",
      rows: documents,
      operations: {
        extract: ({ body }) =>
          Effect.sync(() => {
            extract(body)
            return queued
          }),
        list: Effect.fnUntraced(function* ({ query }, { scope }) {
          const owner = unitOwner(yield* oneUnit(scope, query.org_unit))
          const entry = { id: "ext", owner, createdAtMs: 0 }
          const { has_more, next_cursor } = yield* Lists.use((lists) =>
            lists.documents({ route: documents.list.id, owner, query }, "none", () => entry)
          )
          return { data: [], has_more, next_cursor }
        }),
        get: none,
        reveal: none
      },
      layer: Layer.empty
    })
  ]
})
