/** Plans the erasure of a part. Pure. */
import { type ErasureIn, PartErased, PartNotFound } from "@flyball/contract"
import { canonicalBytes, isKeptPart } from "@flyball/evidence"
import { Result } from "effect"
import type { ChangeSet, Document, DocumentPut, StoredPart, StoredRecord } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { ErasedKey } from "./idempotency-key.ts"
import type { Scrub } from "./scrub.ts"

/** The target of an erasure, as read from the store. */
export interface ErasureTarget {
  readonly record: StoredRecord
  /** Null when the record has no such part. */
  readonly part: StoredPart | null
  /**
   * The document made of the part, and how it is scrubbed; null when there is none. `beside`: what is left of others
   * that go with it. `current`: no later record replaced it.
   */
  readonly held: {
    readonly scrub: Scrub
    readonly document: Document
    readonly beside: ReadonlyArray<DocumentPut>
    /** The body of the record. */
    readonly body: { readonly [member: string]: unknown }
    readonly current: boolean
  } | null
  /** The once key whose digest was made over the part; null when there is none. */
  readonly once: ErasedKey | null
}

/**
 * Decides what erasing a part would change: its bytes and salt go, a record says so, and what was made of it forgets:
 * document and once digest.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `PartNotFound` when the record has no such part, or none that may be erased; `PartErased` when it is gone
 *   already.
 * - Spec: chain-format section 3; decision 0008 says why the writer stands in a part.
 */
export const planErase = (
  command: ErasureIn,
  target: ErasureTarget,
  writer: Writer,
  nowMs: number
): Result.Result<ChangeSet, PartErased | PartNotFound> => {
  const { name, reason, seq } = command
  const { held, once, part, record } = target
  // Who erased what is kept: erasing it again and again would leave nobody. So is what a chain says of the one before
  // it, and what verdicts rest on.
  if (part === null || record.kind === "part.erased" || isKeptPart(name))
    return Result.fail(new PartNotFound({ seq, name }))
  if (part.erasedBy !== null) return Result.fail(new PartErased({ seq, name, erasedBy: part.erasedBy }))
  const scrubbed = held !== null && held.current ? held.scrub.without(held.document, nowMs, held.body) : null
  return Result.succeed({
    // A replaced value is not touched, but the document must be unchanged since that was checked.
    expects:
      held === null || held.current
        ? []
        : [{ collection: held.document.collection, id: held.document.id, version: held.document.version }],
    puts: scrubbed === null ? [] : [scrubbed.put, ...(held?.beside ?? [])],
    records: [
      {
        kind: "part.erased",
        body: { name, reason, seq },
        parts: [{ name: "authority", bytes: canonicalBytes({ writer: writer.id }) }],
        // Under its target's agent: a reader or an export of that agent's records then shows why a part is missing.
        agentId: record.agentId
      },
      ...(scrubbed === null || scrubbed.record === null ? [] : [scrubbed.record])
    ],
    cancel: scrubbed?.cancel ?? [],
    counts: scrubbed?.counts ?? [],
    events: scrubbed?.events ?? [],
    erase: [{ seq, name }],
    forget: once === null ? [] : [once]
  })
}
