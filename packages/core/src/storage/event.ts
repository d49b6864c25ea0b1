/** An event, as a plan returns it for webhooks. Spec: document 1 section 6; design section 3. */
import {
  type EventFacts,
  eventResource,
  type EventType,
  type PlatformEventData,
  platformEvents,
  type PlatformEventType
} from "@flyball/contract"
import { portableCrypto, utf8 } from "@flyball/evidence"
import { ownerOf } from "@flyball/rules"
import { Result, Schema } from "effect"
import { maskFields } from "../foundation/masking.ts"
import type { EventDraft } from "./outbox/outbox.ts"
import type { JsonObject } from "./port.ts"

/**
 * An event of this type, for the `events` of a change.
 *
 * The catalogue in `@flyball/contract` says which facts it takes: ids, words of closed lists, numbers, times and
 * digests. Where the thing itself is found follows from them.
 */
export const event = <T extends EventType>(type: T, facts: EventFacts<T>): EventDraft => ({
  type,
  data: { ...facts, resource: eventResource(type, facts) }
})

/**
 * The digest of an org unit that records of webhooks have: SHA-256, in hex. Spec: document 2 section 6.
 */
export const orgUnitDigestOf = (orgUnit: string): string => portableCrypto.sha256Hex(utf8(orgUnit))

/** The owner of an org unit's events, webhooks and lists: 16 hex digits. Spec: document 2 section 6. */
export const unitOwner = (orgUnit: string): string => ownerOf(orgUnitDigestOf(orgUnit))

/**
 * Makes an event of the platform API, for the `events` of a change. It reaches the webhooks of this org unit alone.
 *
 * - Shape: exactly the members of its type; others, or a missing one, are a defect of the emitter.
 * - Identifying numbers in the fields of `extraction.completed` are masked here: nobody who emits one can forget it.
 * - Spec: document 2 section 6.
 */
export const platformEvent = <T extends PlatformEventType>(
  type: T,
  orgUnit: string,
  data: PlatformEventData<T>
): EventDraft => {
  const shown = "fields" in data ? { ...data, fields: maskFields(data.fields) } : data
  const read = Schema.decodeUnknownResult(platformEvents[type].data as Schema.Codec<unknown>)
  const exact = read(shown, { onExcessProperty: "error" })
  if (Result.isFailure(exact)) throw new Error(`The data of an event ${type} is not of its shape.`)
  return { type, owner: unitOwner(orgUnit), data: exact.success as JsonObject }
}
