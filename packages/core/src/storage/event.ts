/** An event, as a plan returns it for webhooks. Spec: document 1 section 6; design section 3. */
import { type EventFacts, eventResource, type EventType } from "@flyball/contract"
import { portableCrypto, utf8 } from "@flyball/evidence"
import type { EventDraft } from "./outbox/outbox.ts"

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
 * The digest of an org unit that records of webhooks have: SHA-256, in hex. `ownerOf` of the rules makes the owner of
 * events from it. Spec: document 2 section 6.
 */
export const orgUnitDigestOf = (orgUnit: string): string => portableCrypto.sha256Hex(utf8(orgUnit))
