/** Making what a ChangeSet asks of the outbox ready, in its caller's fiber. */
import type { EntropySource } from "../foundation/entropy.ts"
import { eventDataProblem } from "./bounds.ts"
import type { OutboxChange } from "./outbox/outbox.ts"
import type { JsonObject } from "./port.ts"
import { eventEntropyBytes, eventRandom } from "./outbox/ids.ts"
import type { OutboxDraft } from "./outbox/rules.ts"

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
