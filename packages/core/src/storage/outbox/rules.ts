/**
 * Rules for the outbox in a commit: pure and without Effect, the same for every backend and in every thread.
 *
 * Within a ChangeSet the order is: puts, moves, cancellations, events and redeliveries. So the deliveries of an
 * endpoint depend on its state after the puts.
 */
import type { Conflict } from "../faults.ts"
import type { Cancellation, DeliveryMove, DeliveryState, OutboxChange } from "./outbox.ts"
import { deliveryId, eventIdAfter, eventEntropyBytes, eventRandom } from "./ids.ts"
import type { EntropySource } from "../../foundation/entropy.ts"
import { eventDataProblem } from "../bounds.ts"
import type { JsonObject } from "../port.ts"

// Threads load this file of core, and the store's time with it.
export { LAST_STORE_MS, storeTimeMs, timeProblem } from "../store-time.ts"
export { eventEntropyBytes, firstDeliveryId, firstEventId } from "./ids.ts"
export { type Lane, takeTurns, type Turns } from "./turns.ts"

/** The look-up key of the endpoints that want events of this type and owner; its value is {@link wanted}. */
export const wantedKey = ({ owner, type }: { readonly type: string; readonly owner?: string | undefined }): string =>
  owner === undefined ? `on:${type}` : `on:${type}:${owner}`
/** See {@link wantedKey}. */
export const wanted = "yes"

/** Changes of a ChangeSet to the outbox, as JSON: nothing of its caller's is held on to while its commit waits. */
export interface OutboxDraft {
  readonly events: ReadonlyArray<{
    readonly type: string
    readonly owner?: string
    /** JSON text. */ readonly data: string
    /** As it is encoded in the id. */ readonly random: string
  }>
  readonly moves: ReadonlyArray<DeliveryMove>
  readonly cancel: ReadonlyArray<Cancellation>
  readonly again: ReadonlyArray<{ readonly eventId: string; readonly endpointId: string }>
}

/** State of the outbox that a store looks up when it admits a ChangeSet. */
export interface OutboxView {
  readonly delivery: (id: string) => { readonly state: DeliveryState; readonly attempts: number } | null
  readonly hasEvent: (id: string) => boolean
}

/** Every move whose delivery is not in the expected state, and every redelivery whose event is missing. */
export const outboxConflicts = (
  { again = [], moves = [] }: Partial<Pick<OutboxDraft, "moves" | "again">>,
  view: OutboxView
): ReadonlyArray<Conflict> => [
  ...moves.flatMap(({ from, id }): ReadonlyArray<Conflict> => {
    const found = view.delivery(id)
    if (found !== null && found.state === from.state && found.attempts === from.attempts) return []
    return [
      {
        _tag: "Delivery",
        id,
        expected: { state: from.state, attempts: from.attempts },
        found: found === null ? null : { state: found.state, attempts: found.attempts }
      }
    ]
  }),
  ...again.flatMap(({ eventId }): ReadonlyArray<Conflict> =>
    view.hasEvent(eventId) ? [] : [{ _tag: "Event", id: eventId }]
  )
]

/** Subscriptions that a store looks up after the puts of the ChangeSet are written. */
export interface Debts {
  readonly lastEventId: string | null
  /** Active endpoints with this look-up key, by id ascending: see {@link wantedKey}. */
  readonly wanting: (key: string) => ReadonlyArray<string>
  /** The last sequence that this endpoint was given; 0: none. */
  readonly lastSequence: (endpointId: string) => number
}

/** An event to be stored. */
export interface NewEvent {
  readonly id: string
  readonly type: string
  readonly owner?: string
  /** JSON text. */
  readonly data: string
}

/** A delivery to be stored: pending, due at once. */
export interface NewDelivery {
  readonly id: string
  readonly eventId: string
  readonly endpointId: string
  readonly sequence: number
}

/** Rows that a ChangeSet adds to the outbox. `sequences` are the last ones given, by endpoint. */
export interface Owed {
  readonly events: ReadonlyArray<NewEvent>
  readonly deliveries: ReadonlyArray<NewDelivery>
  readonly sequences: ReadonlyMap<string, number>
}

/** Gives events their ids, and every subscribed endpoint a delivery with its next sequence. */
export const owe = (
  { again, events: drafts }: Pick<OutboxDraft, "events" | "again">,
  debts: Debts,
  atMs: number,
  sha256: (bytes: Uint8Array) => Uint8Array
): Owed => {
  const events: Array<NewEvent> = []
  const deliveries: Array<NewDelivery> = []
  const sequences = new Map<string, number>()
  const deliver = (eventId: string, endpointId: string): void => {
    const sequence = (sequences.get(endpointId) ?? debts.lastSequence(endpointId)) + 1
    sequences.set(endpointId, sequence)
    deliveries.push({ id: deliveryId(sha256, atMs, eventId, endpointId, sequence), eventId, endpointId, sequence })
  }
  let last = debts.lastEventId
  for (const { random, ...draft } of drafts) {
    last = eventIdAfter(last, atMs, random)
    events.push({ id: last, ...draft })
    for (const endpointId of debts.wanting(wantedKey(draft))) deliver(last, endpointId)
  }
  for (const { endpointId, eventId } of again) deliver(eventId, endpointId)
  return { events, deliveries, sequences }
}

/**
 * Changes of a ChangeSet to the outbox; null where there are none. Draws entropy for its events only, after the salts
 * of its records.
 *
 * - Fails: throws the sentence of `eventDataProblem`, a bug of the planner.
 */
export const readyOutbox = (
  { again, cancel, events, moves }: OutboxChange,
  entropy: EntropySource
): OutboxDraft | null => {
  if (events === undefined && moves === undefined && cancel === undefined && again === undefined) return null
  if ((events?.length ?? 0) + (moves?.length ?? 0) + (cancel?.length ?? 0) + (again?.length ?? 0) === 0) return null
  return {
    events: (events ?? []).map(({ data, owner, type }) => ({
      type,
      ...(owner === undefined ? {} : { owner }),
      data: eventText(type, data),
      random: eventRandom(entropy.bytes(eventEntropyBytes))
    })),
    moves: (moves ?? []).map(({ ended, from, id, to }) => ({
      id,
      from: { ...from },
      to: { ...to },
      ...(ended === undefined ? {} : { ended: { ...ended } })
    })),
    cancel: (cancel ?? []).map((one) => ({ ...one })),
    again: (again ?? []).map(({ endpointId, eventId }) => ({ eventId, endpointId }))
  }
}

const eventText = (type: string, data: JsonObject): string => {
  const text = JSON.stringify(data)
  const problem = eventDataProblem(type, text)
  if (problem !== null) throw new Error(problem)
  return text
}
