/** Webhooks as a module. Spec: document 1 sections 4 and 6, document 2 section 6; decision 0019. */
import { webhooks as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { outboxSweep } from "./outbox-sweep.ts"
import { Webhooks } from "./service.ts"

const operations = {
  create: Effect.fnUntraced(function* ({ body }, { email, writer }) {
    return yield* (yield* Webhooks).create(body, yield* writer, email)
  }),
  list: Effect.fnUntraced(function* ({ query }) {
    return yield* pageOf(yield* (yield* Webhooks).list, query, ({ id }) => id)
  }),
  get: ({ params }) => Webhooks.use((webhooks) => webhooks.get(params.webhook_id)),
  test: ({ params }) => Webhooks.use((webhooks) => webhooks.test(params.webhook_id)),
  rotateSecret: Effect.fnUntraced(function* ({ body, params }, { writer }) {
    return yield* (yield* Webhooks).rotateSecret(params.webhook_id, body, yield* writer)
  }),
  revoke: Effect.fnUntraced(function* ({ params }, { writer }) {
    return yield* (yield* Webhooks).revoke(params.webhook_id, yield* writer)
  }),
  completeRotation: Effect.fnUntraced(function* ({ params }, { writer }) {
    return yield* (yield* Webhooks).completeRotation(params.webhook_id, yield* writer)
  }),
  disable: Effect.fnUntraced(function* ({ params }, { writer }) {
    return yield* (yield* Webhooks).disable(params.webhook_id, yield* writer)
  }),
  enable: Effect.fnUntraced(function* ({ params }, { writer }) {
    return yield* (yield* Webhooks).enable(params.webhook_id, yield* writer)
  }),
  deliveries: ({ params, query }) => Webhooks.use((webhooks) => webhooks.deliveries(params.webhook_id, query)),
  redeliver: ({ params }) => Webhooks.use((webhooks) => webhooks.redeliver(params.webhook_id, params.delivery_id)),
  recover: ({ body, params }) => Webhooks.use((webhooks) => webhooks.recover(params.webhook_id, body))
} satisfies OperationsOf<typeof rows>

/** Webhooks: which receivers get which events. Spec: document 1 sections 4 and 6; decision 0019. */
export const webhooks: Module<"webhooks", typeof rows, typeof operations, typeof Webhooks.layer, typeof outboxSweep> =
  defineModule({ name: "webhooks", rows, operations, layer: Webhooks.layer, jobs: [outboxSweep] })
