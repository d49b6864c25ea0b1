/** Making what a ChangeSet asks of the outbox ready, in its caller's fiber. */
import { toHex } from "@flyball/evidence"
import type { EntropySource } from "../../entropy.ts"
import type { OutboxChange } from "../outbox.ts"
import { eventEntropyBytes } from "./ids.ts"
import type { OutboxDraft } from "./rules.ts"

/** What a ChangeSet asks of the outbox; null when nothing. Draws entropy for its events only, after the salts of its records. */
export const readyOutbox = ({ again, cancel, events, moves }: OutboxChange, entropy: EntropySource): OutboxDraft | null => {
  if (events === undefined && moves === undefined && cancel === undefined && again === undefined) return null
  if ((events?.length ?? 0) + (moves?.length ?? 0) + (cancel?.length ?? 0) + (again?.length ?? 0) === 0) return null
  return {
    events: (events ?? []).map(({ data, type }) => ({ type, data: JSON.stringify(data), entropy: toHex(entropy.bytes(eventEntropyBytes)) })),
    moves: (moves ?? []).map(({ ended, from, id, to }) => ({ id, from: { ...from }, to: { ...to }, ...ended === undefined ? {} : { ended: { ...ended } } })),
    cancel: (cancel ?? []).map((one) => ({ ...one })),
    again: (again ?? []).map(({ endpointId, eventId }) => ({ eventId, endpointId }))
  }
}
