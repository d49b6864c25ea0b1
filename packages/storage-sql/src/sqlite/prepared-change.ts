/** A ChangeSet as it travels to the storage worker: plain data that a message copies. */
import type { ChangeSet, DocumentPut, RecordDraft } from "@flyball/core/storage"
import { bodyTextOf, type Weight } from "@flyball/core/storage"
import type { AdmissibleChange, OutboxDraft } from "@flyball/core/thread"

/** A document whose body is JSON text already. */
export type PreparedPut = Omit<DocumentPut, "body"> & { readonly body: string }

/** A record whose body is canonical already. */
export interface PreparedRecord extends Pick<RecordDraft, "agentId" | "kind" | "once"> {
  readonly bodyText: string
  /** Text where the part was made as one: a message copies it faster than bytes. */
  readonly parts: ReadonlyArray<{ readonly name: string; readonly content: string | Uint8Array }>
}

/** A ChangeSet whose texts are made: nothing in it can fail or change any more. */
export interface PreparedChange
  extends Omit<AdmissibleChange, "erase" | "puts" | "records">, Pick<ChangeSet, "forget"> {
  /** `by` is the index of the draft that says so. */
  readonly erase?: ReadonlyArray<{ readonly seq: number; readonly name: string; readonly by: number }>
  readonly puts?: ReadonlyArray<PreparedPut>
  readonly records: ReadonlyArray<PreparedRecord>
  /** 32 bytes for each part, in order of records, then of parts. */
  readonly salts: Uint8Array
  /** Its changes to the outbox; null when there are none. */
  readonly outbox: OutboxDraft | null
  readonly weight: Weight
}

/**
 * Prepares a ChangeSet in its caller's own fiber: whatever can fail fails here, so that a bug in one cannot spoil its
 * neighbours' batch.
 *
 * - Unit: `outbox` is what it asks of the outbox. `salts` is 32 bytes for each part, in order of drafts, then of parts.
 * - Fails: throws `RecordUnwritable` where a body breaks the format.
 */
export const prepare = (change: ChangeSet, salts: Uint8Array, outbox: OutboxDraft | null): PreparedChange => {
  const { cancel: _, events: __, erase, puts, records = [], turn: ___, ...rest } = change
  let bytes = 0
  const prepared = records.map((draft): PreparedRecord => {
    const bodyText = bodyTextOf(draft)
    const parts = draft.parts.map((part) => {
      // A view would take all that lies beside it along, and its caller may write to it.
      const content = part.text ?? part.bytes.slice()
      bytes += content.length
      return { name: part.name, content }
    })
    bytes += bodyText.length
    const { agentId, kind, once } = draft
    return once === undefined ? { agentId, kind, bodyText, parts } : { agentId, kind, bodyText, parts, once }
  })
  const documents = puts?.map((put) => {
    const body = JSON.stringify(put.body)
    bytes += body.length
    return { ...put, body }
  })
  for (const { data } of outbox?.events ?? []) bytes += data.length
  const erased = erase?.map(({ name, seq }) => ({
    seq,
    name,
    by: records.findLastIndex(
      ({ body, kind }) => kind === "part.erased" && body["seq"] === seq && body["name"] === name
    )
  }))
  return {
    ...rest,
    ...(documents === undefined ? {} : { puts: documents }),
    ...(erased === undefined ? {} : { erase: erased }),
    records: prepared,
    salts,
    outbox,
    // A ChangeSet without records counts as one: it takes its share of a transaction too.
    weight: { records: Math.max(1, records.length), bytes }
  }
}
