/** Webhooks of org units, over the governor's one engine. Spec: document 2 sections 4 and 6; api.md "Document 2". */
import { type DeliveryOut, PlanLimitReached, type PlatformWebhook, requestBounds } from "@flyball/contract"
import { platformWebhooks as rows } from "@flyball/contract/http"
import {
  defineModule,
  idAtMs,
  Lists,
  listedWebhook,
  type Module,
  oneUnit,
  type OperationsOf,
  type Scope,
  type ShowWebhook,
  shownWebhook,
  sortable,
  unitOwner,
  Webhooks
} from "@flyball/core"
import { Effect, Layer } from "effect"

/** The webhooks of the org unit that a call is for. */
const own = Effect.fnUntraced(function* (scope: Scope, { org_unit }: { readonly org_unit?: string }) {
  const unit = yield* oneUnit(scope, org_unit)
  return { owner: unitOwner(unit), webhooks: (yield* Webhooks).ofOrgUnit(unit, answered) }
})

/** Webhooks of an owner that may get events, now or again. */
const countOf = (owner: string) =>
  Effect.gen(function* () {
    const lists = yield* Lists
    let count = 0
    for (const status of ["active", "disabled", "failed"] as const) {
      const request = { route: rows.list.id, owner, query: { limit: requestBounds.webhooks, status } }
      count += (yield* lists.documents(request, "webhooks", listedWebhook, "status")).rows.length
    }
    return count
  })

/** The members of document 2, whatever more there is. */
const shown = (of: Omit<PlatformWebhook, "description"> & { readonly description: string | null }): PlatformWebhook => {
  const { created_at, description, events, id, status, url } = of
  return { id, url, events, ...(description === null ? {} : { description }), status, created_at }
}

/** The same with the secret, where it is new. */
const answered: ShowWebhook = (webhook) =>
  "secret" in webhook ? { ...shown(webhook), secret: webhook.secret } : shown(webhook)

const operations = {
  create: Effect.fnUntraced(function* ({ body, query }, { email, scope, writer }) {
    const { owner, webhooks } = yield* own(scope, query)
    if ((yield* countOf(owner)) >= requestBounds.webhooks)
      return yield* new PlanLimitReached({ resource: "webhooks", limit: requestBounds.webhooks })
    const webhook = yield* webhooks.create(body, yield* writer, email)
    return { ...shown(webhook), secret: webhook.secret }
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const { owner } = yield* own(scope, query)
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.list.id, owner, query }, "webhooks", listedWebhook, "status")
    )
    return { data: found.map((document) => shown(shownWebhook(document))), ...page }
  }),
  get: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return shown(yield* (yield* own(scope, query)).webhooks.get(params.webhook_id))
  }),
  change: Effect.fnUntraced(function* ({ body, params, query }, { scope, writer }) {
    return shown(yield* (yield* own(scope, query)).webhooks.change(params.webhook_id, body, yield* writer))
  }),
  revoke: Effect.fnUntraced(function* ({ params, query }, { scope, writer }) {
    return shown(yield* (yield* own(scope, query)).webhooks.revoke(params.webhook_id, yield* writer))
  }),
  test: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* own(scope, query)).webhooks.test(params.webhook_id)
  }),
  rotateSecret: Effect.fnUntraced(function* ({ body, params, query }, { scope, writer }) {
    const { webhooks } = yield* own(scope, query)
    const webhook = yield* webhooks.rotateSecret(params.webhook_id, body, yield* writer)
    return { ...shown(webhook), secret: webhook.secret }
  }),
  deliveries: Effect.fnUntraced(function* ({ params: { webhook_id }, query }, { scope }) {
    const { owner, webhooks } = yield* own(scope, query)
    yield* webhooks.get(webhook_id)
    const request = { route: rows.deliveries.id, owner, query: { ...query, webhook_id } }
    const { rows: data, ...page } = yield* Lists.use((lists) =>
      lists.page(request, {
        read: ({ before, limit }) =>
          webhooks.deliveries(webhook_id, { limit, ...(before === undefined ? {} : { before: Number(before) }) }),
        position: ({ sequence }: DeliveryOut) => sortable(sequence),
        createdAtMs: ({ id }) => idAtMs(id)
      })
    )
    return { data, ...page }
  }),
  redeliver: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* own(scope, query)).webhooks.redeliver(params.webhook_id, params.delivery_id)
  }),
  recover: Effect.fnUntraced(function* ({ body, params, query }, { scope }) {
    return yield* (yield* own(scope, query)).webhooks.recover(params.webhook_id, body)
  })
} satisfies OperationsOf<typeof rows>

/** Webhooks of org units. The engine, the deliveries and the secrets are the governor's. Spec: document 2 section 6. */
export const webhooks: Module<"platform_webhooks", typeof rows, typeof operations, typeof Layer.empty> = defineModule({
  name: "platform_webhooks",
  rows,
  operations,
  layer: Layer.empty
})
