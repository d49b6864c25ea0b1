/**
 * The rows of a store in no backend's words: what a copy from one to another carries.
 *
 * Leases, rate limits and permits are not among them: they say who works now, and what was used just now. Tree hashes
 * of level 0 are the records' own.
 */

/** A sealed record with its index columns. */
export interface RecordRow {
  readonly seq: number
  readonly atMs: number
  readonly kind: string
  readonly agentId: string | null
  readonly hash: Uint8Array
  readonly bytes: Uint8Array
}

/** A part; salt and bytes are null once `erasedBy` names the erasing record. */
export interface PartRow {
  readonly seq: number
  readonly name: string
  readonly salt: Uint8Array | null
  readonly bytes: Uint8Array | null
  readonly erasedBy: number | null
}

/** An idempotency key. A digest of no bytes was forgotten. */
export interface IdempotencyRow {
  readonly scope: string
  readonly key: string
  readonly seq: number
  readonly digest: Uint8Array
}

/** The root of a complete tile: level 1 covers 256 records a node, level 2 65,536, and so on. */
export interface NodeRow {
  readonly level: number
  readonly index: number
  readonly hash: Uint8Array
}

/** A state document; `body` is the JSON text as it is stored. */
export interface StoredDocumentRow {
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly body: string
}

/** A look-up key of a document. */
export interface DocumentKeyRow {
  readonly collection: string
  readonly key: string
  readonly value: string
  readonly id: string
  /** True when the collection holds this value once. */
  readonly single: boolean
}

/** An event; `data` is the JSON text as it is stored. */
export interface EventTextRow {
  readonly id: string
  readonly type: string
  readonly atMs: number
  readonly seq: number
  readonly hash: Uint8Array
  readonly data: string
  readonly owner: string | null
}

/** A delivery; `state` is its number, the same in every backend. */
export interface DeliveryRow {
  readonly id: string
  readonly eventId: string
  readonly endpointId: string
  readonly sequence: number
  readonly state: number
  readonly attempts: number
  readonly createdAtMs: number
  readonly nextAttemptAtMs: number | null
  readonly leaseUntilMs: number | null
  readonly finishedAtMs: number | null
}

/** One attempt; `excerpt` is the JSON text as it is stored. */
export interface AttemptRow {
  readonly deliveryId: string
  readonly attempt: number
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly excerpt: string
}

/** The last sequence that an endpoint was given. Whose turn it is to be served is not carried: they restart. */
export interface SequenceRow {
  readonly endpointId: string
  readonly sequence: number
}

/** A counter. */
export interface CounterRow {
  readonly name: string
  readonly value: number
}

/** Every table with its rows. */
export interface Tables {
  readonly records: RecordRow
  readonly parts: PartRow
  readonly once: IdempotencyRow
  readonly nodes: NodeRow
  readonly documents: StoredDocumentRow
  readonly documentKeys: DocumentKeyRow
  readonly events: EventTextRow
  readonly deliveries: DeliveryRow
  readonly attempts: AttemptRow
  readonly sequences: SequenceRow
  readonly counters: CounterRow
}

/** Name of a copied table. */
export type TableName = keyof Tables

/** Tables in the order in which they are copied: what others refer to comes first. */
export const tableNames = [
  "records",
  "parts",
  "once",
  "nodes",
  "documents",
  "documentKeys",
  "events",
  "deliveries",
  "attempts",
  "sequences",
  "counters"
] as const satisfies ReadonlyArray<TableName>

/** Rows of one table, in its order. Pages are small enough to be held in memory (see {@link maxPageRows}). */
export type Page = {
  readonly [T in TableName]: { readonly table: T; readonly rows: ReadonlyArray<Tables[T]> }
}[TableName]

/** Most rows of a page. */
export const maxPageRows = 500

/**
 * Bytes at which a page ends: it holds this many and one row.
 *
 * - Unit: bytes. A part has at most 16 MiB.
 */
export const maxPageBytes = 8 * 1024 * 1024

/** How many rows of each table there are. */
export type RowCounts = { readonly [T in TableName]: number }

/** No rows. */
export const noRows = (): { [T in TableName]: number } => ({
  records: 0,
  parts: 0,
  once: 0,
  nodes: 0,
  documents: 0,
  documentKeys: 0,
  events: 0,
  deliveries: 0,
  attempts: 0,
  sequences: 0,
  counters: 0
})
