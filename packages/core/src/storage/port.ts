/**
 * The Storage port: what core asks of a store, and all that a backend has to do.
 *
 * Spec: design section 3. Floors above never see a table; a new capability declares a collection and writes no SQL.
 */
import type { Effect } from "effect"
import { Context } from "effect"
import type { StorageConflict, StorageCorrupt, StorageUnavailable } from "./faults.ts"
import type { LimitRequest, Taken } from "./limits/slots.ts"
import type { OutboxApi, OutboxChange } from "./outbox/outbox.ts"

/** A JSON object as state documents and record bodies hold it. */
export type JsonObject = { readonly [name: string]: JsonValue }
/** A JSON value without `undefined`; record bodies hold integers only. */
export type JsonValue = null | boolean | number | string | ReadonlyArray<JsonValue> | JsonObject

/** A state document, frozen, because several callers may get it. `version` starts at 1. */
export interface Document {
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly body: JsonObject
}

/** Replaces one state document. */
export interface DocumentPut {
  readonly collection: string
  readonly id: string
  /**
   * The version the plan read; 0 when the document must not exist yet; null when the plan depends on nothing in it. A
   * put that expects a version may conflict with this one, this one never with it.
   */
  readonly expectedVersion: number | null
  readonly body: JsonObject
  /** Exact-match look-up keys; they replace the document's earlier ones. */
  readonly keys?: { readonly [key: string]: string }
  /** Look-up keys of which the collection holds each value once. */
  readonly unique?: { readonly [key: string]: string }
}

/** A part of a record: the bytes that the commitment is made over. */
export interface PartDraft {
  readonly name: string
  readonly bytes: Uint8Array
  /** The text whose UTF-8 is {@link bytes}, where a store may take the text instead: see `TextPart`. */
  readonly text?: string | undefined
}

/**
 * Makes a record idempotent: the store holds at most one record per (`scope`, `key`). The same `digest` again appends
 * nothing and answers the first receipt; another digest is a conflict, unless the first was forgotten. Spec: decision
 * 0002.
 */
export interface IdempotencyKey {
  readonly scope: string
  readonly key: string
  /** 64 lower-case hex digits. */
  readonly digest: string
}

/**
 * Adds to a counter: those of one group in their order, whatever others read before. A negative `add` returns, and is
 * never refused.
 */
export interface CountAdd {
  readonly name: string
  /** A whole number. */
  readonly add: number
  /** An addition after which the counter would be above this is a conflict `Count`. */
  readonly atMost?: number
}

/** A record before it is sealed. Storage adds `at`, `prev`, `seq`, `v`, salts and commitments. */
export interface RecordDraft {
  readonly kind: string
  readonly body: JsonObject
  /** Sorted by name, names unique, at most 32. */
  readonly parts: ReadonlyArray<PartDraft>
  /** The agent it is about, for the index; null when it is about none. */
  readonly agentId: string | null
  readonly once?: IdempotencyKey
}

/**
 * The purpose of a commit, most urgent first: `act` is an act of a person or of a rule, and everything about the kill
 * switch; `verdict` an evaluation or a settlement; `capture` what was done already.
 */
export type CommitClass = "act" | "verdict" | "capture"

/** The place of a commit among those that wait. `key` is the caller whose commits take turns with those of others. */
export interface CommitTurn {
  readonly class: CommitClass
  readonly key: string
}

/**
 * Everything one act changes. All of it is committed, or nothing.
 *
 * Puts come first, then moves of deliveries, then cancellations, then events and what is owed once more: the
 * subscribers of an event follow from the endpoints after the puts. A ChangeSet whose records all exist already (see
 * {@link IdempotencyKey}) is a repeat: it emits no events and owes nothing once more. One without records is recognised
 * as a repeat only by its documents' versions and its moves; without either, a second commit emits its events twice.
 */
export interface ChangeSet extends OutboxChange {
  /**
   * Refused with conflict `NotEmpty` unless the chain is empty. Only genesis sets it, and the first record must be
   * genesis.
   */
  readonly expectEmpty?: boolean
  /**
   * Every record must be new: a key of {@link IdempotencyKey} that is taken is a conflict `IdempotencyKey`, under the
   * same digest too. For plans in which one record depends on what the others say.
   */
  readonly expectNew?: boolean
  /**
   * The time that it is sealed at must be before this one, else it is a conflict `Late`. For plans that hold up to a
   * time: a commit may wait, for a lock or for a group, longer than what was planned. Unit: milliseconds since 1970
   * UTC.
   */
  readonly sealBeforeMs?: number
  /** Place of this commit where others wait; left out: an act of no one key. It changes nothing that is stored. */
  readonly turn?: CommitTurn
  /** Documents that must still have these versions (0: absent), beyond those that are put. */
  readonly expects?: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly version: number }>
  readonly puts?: ReadonlyArray<DocumentPut>
  /**
   * Documents that go, each at this version, with their look-up keys. Working state only: what records tell of stays,
   * and endpoints of webhooks do. An id that went is never given again: its versions would restart.
   */
  readonly deletes?: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly version: number }>
  readonly records?: ReadonlyArray<RecordDraft>
  /**
   * Parts whose bytes and salt are deleted; the last record of this ChangeSet with kind `part.erased` naming it is its
   * erasing record.
   */
  readonly erase?: ReadonlyArray<{ readonly seq: number; readonly name: string }>
  /**
   * Idempotency keys whose digest is deleted, because it was made over what is erased. Such a key stays taken: whatever
   * comes under it again is a duplicate. Keys that nobody took are passed over.
   */
  readonly forget?: ReadonlyArray<{ readonly scope: string; readonly key: string }>
  /** Counters that it adds to, each once. A repeat adds nothing. */
  readonly counts?: ReadonlyArray<CountAdd>
}

/** Receipt of one draft. `duplicate`: it was recorded before (see {@link IdempotencyKey}). */
export interface RecordReceipt {
  readonly seq: number
  readonly hash: Uint8Array
  readonly atMs: number
  readonly duplicate: boolean
}

/** The last record. */
export interface Head {
  readonly seq: number
  readonly hash: Uint8Array
  readonly atMs: number
}

/** The answer to a durable commit: one receipt per draft, in order, and the head after it. */
export interface CommitReceipt {
  readonly records: ReadonlyArray<RecordReceipt>
  readonly head: Head
}

/** A sealed record with its index columns. `bytes` are what was hashed. */
export interface StoredRecord {
  readonly seq: number
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
  readonly kind: string
  readonly agentId: string | null
  readonly atMs: number
}

/** A stored part, or the seq of the record that erased it. */
export type StoredPart =
  | {
      readonly seq: number
      readonly name: string
      readonly salt: Uint8Array
      readonly bytes: Uint8Array
      readonly erasedBy: null
    }
  | {
      readonly seq: number
      readonly name: string
      readonly salt: null
      readonly bytes: null
      readonly erasedBy: number
    }

/** Which documents to read in the order of a look-up key. Both bounds are exclusive, and text that a store can hold. */
export interface KeyRange {
  readonly after?: string
  readonly before?: string
  /** 1 to 1,000. */
  readonly limit: number
  /** Default `asc`. */
  readonly order?: "asc" | "desc"
}

/** Which records to read. `from` and `to` are inclusive. */
export interface RecordQuery {
  readonly from?: number
  readonly to?: number
  /** 1 to 1,000. */
  readonly limit: number
  readonly kinds?: ReadonlyArray<string>
  readonly agentId?: string
  /** Default `asc`. */
  readonly order?: "asc" | "desc"
}

/** Storage's time and head when a plan's facts were read. */
export interface AsOf {
  readonly ms: number
  /** Last seq; -1 while the chain is empty. */
  readonly seq: number
}

/**
 * Hashes and sizes of a range of records whose bytes were read, hashed again and found in order. Spec: format 1 section
 * 2.
 */
export interface Rehashed {
  /** Roots of complete subtrees of 2^level leaves, from the first record on, side by side. */
  readonly subtrees: ReadonlyArray<{ readonly level: number; readonly hash: Uint8Array }>
  /** The last record, from its own bytes. */
  readonly last: Head
}

/** A once key that is in use. */
export interface TakenKey {
  readonly scope: string
  readonly key: string
  readonly seq: number
  /** Null once it was forgotten. */
  readonly digest: string | null
}

/** Rate limits and permits. Their rows are no part of a copy or of the chain: they say what was used just now. */
export interface LimitsApi {
  /** True when other processes take from the same rows. */
  readonly shared: boolean
  /**
   * Answers requests in their order, by the store's clock, with `takeLimits`. Requests that are malformed are defects.
   *
   * What it answered survives the end of the process. It need not survive a power cut: a store may forget about a
   * second then.
   */
  readonly take: (requests: ReadonlyArray<LimitRequest>) => Effect.Effect<ReadonlyArray<Taken>, ReadFault>
}

/** Faults of any read. */
export type ReadFault = StorageUnavailable | StorageCorrupt

/** The Storage port. Every method is safe to call concurrently. */
export interface StorageApi {
  /** `memory`, `sqlite` or `postgres`: for status pages and messages, never to branch on. */
  readonly backend: string
  /** Commits all of it durably, or nothing. Conflicts are all collected. */
  readonly commit: (change: ChangeSet) => Effect.Effect<CommitReceipt, StorageConflict | ReadFault>
  readonly asOf: Effect.Effect<AsOf, ReadFault>
  /** Null while the chain is empty. */
  readonly head: Effect.Effect<Head | null, ReadFault>
  readonly get: (collection: string, id: string) => Effect.Effect<Document | null, ReadFault>
  /** Documents with this look-up key (unique or not), by id ascending. */
  readonly find: (collection: string, key: string, value: string) => Effect.Effect<ReadonlyArray<Document>, ReadFault>
  /**
   * Documents that have this look-up key (unique or not), in the order of its values as bytes; those of one value by
   * id. It reads as many as it answers, however many there are: a list of what is open has a key that only open
   * documents have, and values in the order of the list.
   */
  readonly range: (
    collection: string,
    key: string,
    range: KeyRange
  ) => Effect.Effect<ReadonlyArray<Document>, ReadFault>
  /**
   * Documents by id ascending (ids sort by time, so oldest first), `after` exclusive. However long they are, they do
   * not hold up the host: `listDocuments` reads them in pieces.
   */
  readonly list: (
    collection: string,
    page?: { readonly after?: string; readonly limit?: number }
  ) => Effect.Effect<ReadonlyArray<Document>, ReadFault>
  readonly record: (seq: number) => Effect.Effect<StoredRecord | null, ReadFault>
  readonly records: (query: RecordQuery) => Effect.Effect<ReadonlyArray<StoredRecord>, ReadFault>
  /** All parts of these records, by (seq, name) ascending. At most 1,000 seqs. */
  readonly parts: (seqs: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<StoredPart>, ReadFault>
  /** Which of these keys are taken in `scope`. A digest is null once it was forgotten. */
  readonly once: (
    scope: string,
    keys: ReadonlyArray<string>
  ) => Effect.Effect<
    ReadonlyArray<{ readonly key: string; readonly seq: number; readonly digest: string | null }>,
    ReadFault
  >
  /** All once keys, in a stable order of the store's own, behind `after` (null: from the first). `limit` 1 to 1,000. */
  readonly idempotencyKeys: (
    after: Pick<TakenKey, "scope" | "key"> | null,
    limit: number
  ) => Effect.Effect<ReadonlyArray<TakenKey>, ReadFault>
  /**
   * `count` node hashes of tree level 8 x `tileLevel`, from index `from`, joined (32 bytes each).
   * Only complete nodes exist: index i of tile level t needs (i + 1) x 256^t records. Fewer come back past the end.
   */
  readonly hashes: (tileLevel: number, from: number, count: number) => Effect.Effect<Uint8Array, ReadFault>
  /**
   * Reads the records behind `previous` up to seq `to` again and hashes their bytes again: the result of `Rehasher`,
   * off the host's thread. Null where something may be wrong: the caller then checks the records itself. At most 10,000
   * records; other reads are answered meanwhile.
   * reads are answered meanwhile.
   *
   * For a store that has a thread for it, whose code is not the code that wrote. Another leaves it out, and its records
   * are checked page by page on the host.
   */
  readonly rehash?: (previous: Head | null, to: number) => Effect.Effect<Rehashed | null, ReadFault>
  /** Values of counters, in the order of `names`; 0 for one that nothing was added to. At most 1,000. */
  readonly counters: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, ReadFault>
  readonly limits: LimitsApi
  /** The outbox: deliveries owed to webhooks. It is written by `commit`. */
  readonly outbox: OutboxApi
  /**
   * Takes or renews a lease; false while another holder's has not run out. One that ends more than twice `ttlMs` from
   * now has run out too: the clock
   * stepped back since it was taken, and its holder may be gone. So all that want one lease ask for the same time.
   */
  readonly lease: (name: string, holder: string, ttlMs: number) => Effect.Effect<boolean, ReadFault>
  readonly releaseLease: (name: string, holder: string) => Effect.Effect<void, ReadFault>
}

/** Service of the store. Spec: design section 3. */
export class Storage extends Context.Service<Storage, StorageApi>()("flyball/core/Storage") {}
