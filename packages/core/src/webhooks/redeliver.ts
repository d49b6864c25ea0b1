/** Sends what a delivery owes now. Spec: api "agents and registry", `/webhooks/{id}/deliveries/{delivery_id}/redeliver`; decision 0030. */
import { DeliveryUnfinished } from "@flyball/contract"
import { Effect } from "effect"
import type { StorageConflict } from "../storage/faults.ts"
import { type Delivery, WEBHOOKS } from "../storage/outbox.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import type { StoredWebhook } from "./plan-webhook.ts"
import { markRecovery, RECOVERIES } from "./recover-missed.ts"

/** Deliveries looked through at a time for the one that was just made. */
const PAGE = 500

/**
 * Has a waiting delivery tried at once: the next of its seven attempts, the one after it as long behind this one's end as the schedule says. Owes the event of a finished one
 * again, as a new delivery. Answers the delivery that is due then.
 *
 * - Fails: `DeliveryUnfinished` while an attempt is under way.
 */
export const redeliver = Effect.fnUntraced(function*(storage: StorageApi, { id, version }: StoredWebhook, delivery: Delivery): Effect.fn.Return<Delivery, DeliveryUnfinished | StorageConflict | ReadFault> {
  const { attempts, eventId, nextAttemptAtMs, state } = delivery
  if (state === "in_flight") return yield* new DeliveryUnfinished({ state })
  const expects = [{ collection: WEBHOOKS, id, version }]
  if (state === "pending") {
    const nowMs = (yield* storage.asOf).ms
    if (nextAttemptAtMs === null || nextAttemptAtMs <= nowMs) return delivery
    yield* storage.commit({ expects, moves: [{ id: delivery.id, from: { state, attempts }, to: { state, nextAttemptAtMs: nowMs } }] })
    return delivery
  }
  const marker = yield* storage.get(RECOVERIES, id)
  yield* storage.commit({ expects, puts: [markRecovery(id, marker, Number(marker?.body["since_ms"] ?? 0))], again: [{ eventId, endpointId: id }] })
  return (yield* storage.outbox.deliveriesOf(id, { limit: PAGE })).find((one) => one.eventId === eventId) ?? delivery
})
