/** Shared actions and queries for tests of webhooks. */
import type { WebhookCreate } from "@flyball/contract"
import { fromUtf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { assert } from "vitest"
import { Replay } from "../../replay/service.ts"
import { Storage } from "../../../storage/port.ts"
import { systemHost } from "../../../foundation/writer.ts"
import { deliveryEngine } from "../delivery-engine.ts"
import { Webhooks, type WebhooksApi } from "../service.ts"

/** Unit: milliseconds. */
export const DAY_MS = 86_400_000

/** Delivers what the listener or its own clock reports: its poll is too far off to help in a test. */
export const engine = deliveryEngine({ pollMs: 30 * DAY_MS })

/** A webhook that wants registrations by default. */
export const created = (more: Partial<WebhookCreate> = {}) =>
  Webhooks.use((webhooks) =>
    webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"], ...more }, systemHost)
  )

/** One call of the service. */
export const hooks = <A, E>(use: (webhooks: WebhooksApi) => Effect.Effect<A, E>) => Webhooks.use(use)

/** The tag of the refusal that a call ends with. */
export const tagOf = <A, E extends { readonly _tag: string }>(use: (webhooks: WebhooksApi) => Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(hooks(use)), ({ _tag }) => _tag)

/** How a webhook stands. */
export const statusOf = (id: string) =>
  Effect.map(
    hooks(({ get }) => get(id)),
    ({ status }) => status
  )

/** Its deliveries as the store has them, the newest first. */
export const storedDeliveries = (id: string) =>
  Storage.use((storage) => storage.outbox.deliveriesOf(id, { limit: 1_000 }))

/** Bodies of the records of one kind, the oldest first. */
export const bodiesOf = (kind: string) =>
  Storage.use((storage) =>
    Effect.map(storage.records({ kinds: [kind], limit: 1_000 }), (records) =>
      records.map(({ bytes }) => JSON.parse(fromUtf8(bytes)!).body)
    )
  )

/** Replay knows every document and record that was left. */
export const replays = Effect.tap(
  Replay.use(({ check }) => check),
  (report) => Effect.sync(() => assert.deepStrictEqual(report.differences, []))
)
