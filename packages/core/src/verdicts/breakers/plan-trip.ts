/** Plans the trip of a breaker. Pure. */
import type { BreakerDocument, KillResponse, BreakerTrip, ReadAt, Reading } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { breakerPut, type StoredBreaker, type BreakerPlan } from "./stored-breaker.ts"

/** The activation of a trip: its id, and the change that makes it. */
export interface Activated {
  readonly activationId: string
  readonly response: KillResponse
  readonly change: ChangeSet
}

/**
 * Decides what a breaker does that trips: latches, records on what, and activates. In mode `shadow` it records alone.
 *
 * - `activated`: null but in mode `enforce`.
 */
export const planTrip = (
  { body, id, version }: StoredBreaker,
  { fromSeq, samples, toSeq, value }: Reading,
  at: ReadAt,
  activated: Activated | null
): BreakerPlan => {
  const { agentId, metric, mode } = body
  const writer = writerOfBreaker(body)
  const trip: BreakerTrip = {
    atMs: at.ms,
    asOfSeq: at.seq,
    value,
    samples,
    mode,
    response: activated?.response ?? null,
    activationId: activated?.activationId ?? null
  }
  const breaker: BreakerDocument = { ...body, trip, lastActivationId: trip.activationId ?? body.lastActivationId }
  const { events = [], expects = [], puts = [], records = [] } = activated?.change ?? {}
  return {
    breaker,
    change: {
      expects,
      puts: [breakerPut(id, version, breaker), ...puts],
      records: [
        {
          kind: "breaker.tripped",
          agentId,
          body: omitNullish({
            activation_id: trip.activationId,
            agent_id: agentId,
            as_of_ms: at.ms,
            as_of_seq: at.seq,
            breaker_id: id,
            from_seq: fromSeq,
            metric,
            mode,
            response: trip.response,
            samples,
            to_seq: toSeq,
            value,
            writer
          }) as JsonObject,
          parts: []
        },
        ...records
      ],
      events: [
        ...(mode === "shadow"
          ? []
          : [
              event("breaker.tripped", {
                breaker_id: id,
                agent_id: agentId,
                metric,
                mode,
                value,
                samples,
                response: trip.response,
                activation_id: trip.activationId,
                writer
              })
            ]),
        ...events
      ]
    }
  }
}

/** Writer of the acts of a breaker. Spec: document 1 section 3, kill state. */
export const writerOfBreaker = ({ name }: Pick<BreakerDocument, "name">): string => `breaker:${name}`
