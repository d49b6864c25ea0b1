/** Making a ChangeSet ready before the head is locked: everything that does not depend on the record before. */
import type { OutboxDraft } from "@flyball/core/thread"
import type { ChangeSet, CommittedDraft } from "@flyball/core/storage"
import { commitDraftsInSlices, type Weight } from "@flyball/core/storage"
import { type Crypto, inOneGo, type Slices } from "@flyball/evidence"

/** A ChangeSet that waits for its group. JSON is text already, so that nothing can change or fail any more. */
export interface PreparedChange {
  readonly change: ChangeSet
  /** Its records with their commitments: what is left to do under the lock is to number and to chain them. */
  readonly drafts: ReadonlyArray<CommittedDraft>
  /** One text per put. */
  readonly bodies: ReadonlyArray<string>
  /** Its changes to the outbox; null when there are none. */
  readonly outbox: OutboxDraft | null
  readonly weight: Weight
}

/**
 * Prepares a ChangeSet, in slices: a thousand records take the host's thread for 10 to 100 ms. `outbox` is
 * what it asks of the outbox. `salts` is 32 bytes for each part, in order of drafts, then of parts.
 *
 * - Fails: throws `RecordUnwritable` where a body breaks the format: a bug of its planner.
 */
export function* prepareInSlices(
  crypto: Crypto,
  change: ChangeSet,
  salts: Uint8Array,
  outbox: OutboxDraft | null
): Slices<PreparedChange> {
  const bodies = (change.puts ?? []).map(({ body }) => JSON.stringify(body))
  const drafts = yield* commitDraftsInSlices(crypto, change.records ?? [], salts)
  return {
    change,
    drafts,
    bodies,
    outbox,
    weight: weigh(drafts, outbox === null ? bodies : [...bodies, ...outbox.events.map(({ data }) => data)])
  }
}

/** {@link prepareInSlices} without a pause. */
export const prepare = (...args: Parameters<typeof prepareInSlices>): PreparedChange =>
  inOneGo(prepareInSlices(...args))

/** A ChangeSet without records counts as one: it takes its share of a transaction too. */
const weigh = (drafts: ReadonlyArray<CommittedDraft>, texts: ReadonlyArray<string>): Weight => {
  let bytes = 0
  for (const { bodyText, parts } of drafts) {
    bytes += bodyText.length
    for (const part of parts) bytes += part.bytes.length
  }
  for (const text of texts) bytes += text.length
  return { records: Math.max(1, drafts.length), bytes }
}
