/** An event, as a plan returns it for webhooks. Spec: document 1 section 6; design section 3. */
import { type EventFacts, eventResource, type EventType } from "@flyball/contract"
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
