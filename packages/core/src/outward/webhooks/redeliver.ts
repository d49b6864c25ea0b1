/**
 * Sends what a delivery owes now. Spec: api "agents and registry", `/webhooks/{id}/deliveries/{delivery_id}/redeliver`;
 * decision 0030.
 */
import { DeliveryUnfinished } from "@flyball/contract"
import { Effect } from "effect"
import type { StorageConflict } from "../../storage/faults.ts"
import { type Delivery, WEBHOOKS } from "../../storage/outbox/outbox.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { StoredWebhook } from "./document.ts"
import { markResend, RESENDS } from "./resend-missed.ts"

/** Deliveries read at a time to find the one that was just made. */
const PAGE = 1_000

/**
 * Has a waiting delivery tried at once: the next of its seven attempts, the one after it as long behind this one's end
 * as the schedule says. Owes the event of a finished one
 * again, as a new delivery. Answers the delivery that is due then.
 *
 * - Fails: `DeliveryUnfinished` while an attempt is under way.
 */
export const redeliver = Effect.fnUntraced(function* (
  storage: StorageApi,
  { id, version }: StoredWebhook,
  delivery: Delivery
): Effect.fn.Return<Delivery, DeliveryUnfinished | StorageConflict | ReadFault> {
  const { attempts, eventId, nextAttemptAtMs, state } = delivery
  if (state === "in_flight") return yield* new DeliveryUnfinished({ state })
  const expects = [{ collection: WEBHOOKS, id, version }]
  if (state === "pending") {
    const nowMs = (yield* storage.asOf).ms
    if (nextAttemptAtMs === null || nextAttemptAtMs <= nowMs) return delivery
    yield* storage.commit({
      expects,
      moves: [{ id: delivery.id, from: { state, attempts }, to: { state, nextAttemptAtMs: nowMs } }]
    })
    return delivery
  }
  // Read before the last sequence: another redelivery of the same event in between makes the commit a conflict.
  const marker = yield* storage.get(RESENDS, id)
  const last = (yield* storage.outbox.deliveriesOf(id, { limit: 1 }))[0]?.sequence ?? 0
  yield* storage.commit({
    expects,
    puts: [markResend(id, marker, Number(marker?.body["since_ms"] ?? 0))],
    again: [{ eventId, endpointId: id }]
  })
  return (yield* firstAfter(storage, id, eventId, last)) ?? delivery
})

/**
 * The first delivery of an event behind this sequence, however many newer ones there are: the one that was made once
 * more, since those of a new event are of another.
 */
const firstAfter = Effect.fnUntraced(function* (
  storage: StorageApi,
  endpointId: string,
  eventId: string,
  sequence: number
): Effect.fn.Return<Delivery | null, ReadFault> {
  let found: Delivery | null = null
  for (let before: number | undefined; ;) {
    const page = yield* storage.outbox.deliveriesOf(
      endpointId,
      before === undefined ? { limit: PAGE } : { before, limit: PAGE }
    )
    found = page.findLast((one) => one.eventId === eventId && one.sequence > sequence) ?? found
    before = page.at(-1)?.sequence
    if (before === undefined || before <= sequence || page.length < PAGE) return found
  }
})
