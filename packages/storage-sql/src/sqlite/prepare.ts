/** Making a ChangeSet ready to be packed. */
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { recordBodyText } from "@flyball/evidence"
import type { Weight } from "../group-commit.ts"
import type { PreparedChange } from "./batch.ts"

/**
 * Makes a ChangeSet ready in its caller's own fiber: whatever can fail fails here, so that a bug in one cannot spoil its neighbours' batch.
 *
 * - Unit: `salts` is 32 bytes for each part, in order of drafts, then of parts.
 * - Fails: throws `RecordUnwritable` where a body breaks the format.
 */
export const prepare = (change: ChangeSet, salts: Uint8Array): PreparedChange => {
  const { records = [], puts = [], deliveries = [] } = change
  const contents = joinedParts(records)
  const bodies = records.map(({ kind, body }) => recordBodyText(kind, body))
  const documents = puts.map(({ body }) => JSON.stringify(body))
  const payloads = deliveries.map(({ body }) => JSON.stringify(body))
  return { change, salts, contents, bodies, documents, payloads, weight: weightOf(contents, bodies, documents, payloads) }
}

/** The bytes of all parts, copied: the caller's arrays may change while its commit waits. */
const joinedParts = (records: ReadonlyArray<RecordDraft>): Uint8Array => {
  let length = 0
  for (const { parts } of records) for (const part of parts) length += part.bytes.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const { parts } of records) {
    for (const { bytes } of parts) {
      joined.set(bytes, at)
      at += bytes.length
    }
  }
  return joined
}

/** A ChangeSet without records counts as one: it takes its share of a transaction too. */
const weightOf = (contents: Uint8Array, bodies: ReadonlyArray<string>, ...texts: ReadonlyArray<ReadonlyArray<string>>): Weight => {
  let bytes = contents.length
  for (const list of [bodies, ...texts]) for (const text of list) bytes += text.length
  return { records: Math.max(1, bodies.length), bytes }
}
