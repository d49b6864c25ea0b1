/** Webhooks through the plain client. */
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { Webhooks } from "../../outward/webhooks/service.ts"
import { type Acting, acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, decodeDeliveries, decodeRecover, decodeRotate, decodeWebhook } from "./input.ts"
import type { WebhooksClient } from "./types/webhooks-client-types.ts"

/** Webhooks over a client. */
export const webhooksClient = (client: Client, own: Writer): WebhooksClient => webhooksOver(client, acting(client, own))

const webhooksOver = ({ run }: Client, act: Acting): WebhooksClient => ({
  create: (input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeWebhook, input), (webhook) =>
          Webhooks.use((webhooks) => webhooks.create(webhook, writer))
        ),
      options
    ),
  list: (options) =>
    run(
      Webhooks.use((webhooks) => webhooks.list),
      options
    ),
  get: (id, options) =>
    run(
      Webhooks.use((webhooks) => webhooks.get(id)),
      options
    ),
  revoke: (id, options) => act((writer) => Webhooks.use((webhooks) => webhooks.revoke(id, writer)), options),
  disable: (id, options) => act((writer) => Webhooks.use((webhooks) => webhooks.disable(id, writer)), options),
  enable: (id, options) => act((writer) => Webhooks.use((webhooks) => webhooks.enable(id, writer)), options),
  rotateSecret: (id, overlap = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeRotate, overlap), (input) =>
          Webhooks.use((webhooks) => webhooks.rotateSecret(id, input, writer))
        ),
      options
    ),
  completeRotation: (id, options) =>
    act((writer) => Webhooks.use((webhooks) => webhooks.completeRotation(id, writer)), options),
  deliveries: (id, page = {}, options) =>
    run(
      Effect.flatMap(decodeDeliveries(page), (query) => Webhooks.use((webhooks) => webhooks.deliveries(id, query))),
      options
    ),
  redeliver: (id, deliveryId, options) =>
    run(
      Webhooks.use((webhooks) => webhooks.redeliver(id, deliveryId)),
      options
    ),
  recover: (id, missed, options) =>
    run(
      Effect.flatMap(decoded(decodeRecover, missed), (input) =>
        Webhooks.use((webhooks) => webhooks.recover(id, input))
      ),
      options
    ),
  test: (id, options) =>
    run(
      Webhooks.use((webhooks) => webhooks.test(id)),
      options
    )
})
