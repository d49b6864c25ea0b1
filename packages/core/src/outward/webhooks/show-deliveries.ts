/** Deliveries as the interface shows them: with their event's type and every attempt. */
import type { AttemptOut, DeliveryOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import type { Attempt, Delivery } from "../../storage/outbox/outbox.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/**
 * Reads what belongs to these deliveries, in order. Two reads for each. One that was forgotten since it was listed is
 * left out.
 */
export const showDeliveries = (
  storage: StorageApi,
  deliveries: ReadonlyArray<Delivery>
): Effect.Effect<ReadonlyArray<DeliveryOut>, ReadFault> =>
  Effect.map(
    Effect.forEach(
      deliveries,
      ({ eventId, id }) =>
        Effect.gen(function* () {
          const [found, event] = yield* Effect.all([storage.outbox.delivery(id), storage.outbox.event(eventId)])
          return found === null || event === null ? [] : [deliveryOut(found.delivery, event.type, found.attempts)]
        }),
      { concurrency: 8 }
    ),
    (shown) => shown.flat()
  )

const deliveryOut = (delivery: Delivery, eventType: string, attempts: ReadonlyArray<Attempt>): DeliveryOut => ({
  id: delivery.id,
  webhook_id: delivery.endpointId,
  event_id: delivery.eventId,
  event_type: eventType,
  sequence: delivery.sequence,
  state: delivery.state,
  created_at: formatInstant(delivery.createdAtMs),
  next_attempt_at: instant(delivery.nextAttemptAtMs),
  finished_at: instant(delivery.finishedAtMs),
  attempts: attempts.map(attemptOut)
})

const attemptOut = ({
  attempt,
  endedAtMs,
  errorCode,
  responseExcerpt,
  startedAtMs,
  statusCode
}: Attempt): AttemptOut => ({
  attempt,
  started_at: formatInstant(startedAtMs),
  ended_at: instant(endedAtMs),
  duration_ms: endedAtMs === null ? null : endedAtMs - startedAtMs,
  status_code: statusCode,
  error: errorCode,
  response_excerpt: responseExcerpt
})

const instant = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))
