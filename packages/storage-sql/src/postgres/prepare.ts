/** Making a ChangeSet ready before the head is locked: everything that does not depend on the record before. */
import type { OutboxDraft } from "@flyball/core/thread"
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { saltBytes } from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { fromHex, recordBodyText, toHex } from "@flyball/evidence"
import type { Weight } from "../group-commit.ts"

/** A part with its salt. Its bytes are ours: the caller's array may change while the commit waits. */
export interface PreparedPart {
  readonly name: string
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

/** A draft of which only `at`, `prev` and `seq` are missing. */
export interface PreparedDraft {
  readonly draft: RecordDraft
  /** The members `body`, `kind` and `parts` as they will stand in the record. */
  readonly middle: Uint8Array
  readonly parts: ReadonlyArray<PreparedPart>
  readonly digest: Uint8Array | null
}

/** A ChangeSet that waits for its group. JSON is text already, so that nothing can change or fail any more. */
export interface PreparedChange {
  readonly change: ChangeSet
  readonly drafts: ReadonlyArray<PreparedDraft>
  /** One text per put. */
  readonly bodies: ReadonlyArray<string>
  /** What it asks of the outbox; null when nothing. */
  readonly outbox: OutboxDraft | null
  readonly weight: Weight
}

/**
 * Prepares a ChangeSet. `outbox` is what it asks of the outbox. `salts` is 32 bytes for each part, in order of drafts,
 * then of parts.
 *
 * - Fails: throws `RecordUnwritable` where a body breaks the format: a bug of its planner.
 */
export const prepare = (
  crypto: Crypto,
  change: ChangeSet,
  salts: Uint8Array,
  outbox: OutboxDraft | null
): PreparedChange => {
  let salted = 0
  const drafts = (change.records ?? []).map((draft): PreparedDraft => {
    const parts = draft.parts.map(({ name, bytes }) => ({
      name,
      salt: salts.slice(salted, (salted += saltBytes)),
      bytes: bytes.slice()
    }))
    const commitments = parts.map(
      ({ name, salt, bytes }) => `{"c":"${toHex(crypto.commitment(salt, name, bytes))}","name":"${name}"}`
    )
    const middle = Buffer.from(
      `"body":${draft.bodyText ?? recordBodyText(draft.kind, draft.body)},"kind":"${draft.kind}","parts":[${commitments.join(",")}]`
    )
    return { draft, middle, parts, digest: draft.once === undefined ? null : fromHex(draft.once.digest) }
  })
  const bodies = (change.puts ?? []).map(({ body }) => JSON.stringify(body))
  return {
    change,
    drafts,
    bodies,
    outbox,
    weight: weigh(drafts, outbox === null ? bodies : [...bodies, ...outbox.events.map(({ data }) => data)])
  }
}

/** A ChangeSet without records counts as one: it takes its share of a transaction too. */
const weigh = (drafts: ReadonlyArray<PreparedDraft>, texts: ReadonlyArray<string>): Weight => {
  let bytes = 0
  for (const { middle, parts } of drafts) {
    bytes += middle.length
    for (const part of parts) bytes += part.bytes.length
  }
  for (const text of texts) bytes += text.length
  return { records: Math.max(1, drafts.length), bytes }
}
