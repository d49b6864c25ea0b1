/** The messages between a host and its storage worker. Plain data, no Effect. */
import type {
  Attempt,
  ClaimRequest,
  Delivery,
  Document,
  ForgetAnswer,
  ForgetRequest,
  Head,
  KeyRange,
  LimitRequest,
  MissedQuery,
  OwnedQuery,
  RecordQuery,
  Rehashed,
  StoredEvent,
  Taken
} from "@flyball/core/storage"
import type { BatchAnswer, Fault } from "../answers.ts"
import type { PartPage, RecordPage } from "../rows.ts"
import type { PreparedChange } from "../prepared-change.ts"

/**
 * How a worker opens the file. A `reader` never writes; `both` needs no other thread, which `:memory:` cannot have: a
 * second connection would see another database.
 */
export interface OpenRequest {
  readonly op: "open"
  readonly role: "writer" | "reader" | "both"
  readonly file: string
  readonly busyTimeoutMs: number
  /** True where memory is worth more than speed. */
  readonly small: boolean
}

/** Request from a host to a worker. */
export type WorkerRequest =
  | OpenRequest
  | { readonly op: "commit"; readonly nowMs: number; readonly changes: ReadonlyArray<PreparedChange> }
  | {
      readonly op: "lease"
      readonly name: string
      readonly holder: string
      readonly nowMs: number
      readonly untilMs: number
    }
  | { readonly op: "releaseLease"; readonly name: string; readonly holder: string }
  | { readonly op: "close" }
  | { readonly op: "head" }
  | { readonly op: "get"; readonly collection: string; readonly id: string }
  | { readonly op: "find"; readonly collection: string; readonly key: string; readonly value: string }
  | { readonly op: "range"; readonly collection: string; readonly key: string; readonly range: KeyRange }
  | {
      readonly op: "list"
      readonly collection: string
      readonly after: string
      readonly limit: number | null
      readonly units: number
    }
  | { readonly op: "records"; readonly query: RecordQuery }
  | { readonly op: "parts"; readonly seqs: ReadonlyArray<number> }
  | {
      readonly op: "idempotencyKeys"
      readonly after: { readonly scope: string; readonly key: string } | null
      readonly limit: number
    }
  | { readonly op: "once"; readonly scope: string; readonly keys: ReadonlyArray<string> }
  | { readonly op: "counters"; readonly names: ReadonlyArray<string> }
  | { readonly op: "limits"; readonly requests: ReadonlyArray<LimitRequest>; readonly nowMs: number }
  | { readonly op: "hashes"; readonly tileLevel: number; readonly from: number; readonly count: number }
  | { readonly op: "rehash"; readonly previous: Head | null; readonly to: number }
  | { readonly op: "claim"; readonly request: ClaimRequest; readonly nowMs: number }
  | { readonly op: "delivery"; readonly id: string }
  | { readonly op: "deliveriesOf"; readonly endpointId: string; readonly before: number; readonly limit: number }
  | { readonly op: "event"; readonly id: string }
  | { readonly op: "events"; readonly query: EventQuery }
  | { readonly op: "owned"; readonly query: OwnedQuery }
  | { readonly op: "missed"; readonly query: MissedQuery }
  | { readonly op: "forget"; readonly request: ForgetRequest }

/** True for a request that may have changed the store even without an answer. */
export const isWrite = ({ op }: WorkerRequest): boolean =>
  op === "commit" || op === "claim" || op === "forget" || op === "lease" || op === "releaseLease" || op === "limits"

/** A document whose body is still JSON text: the host parses it, so that it crosses as one string. */
export type DocumentRow = Omit<Document, "body"> & { readonly body: string }
/** Which events to read. */
export interface EventQuery {
  /** From the first one on where it is empty. */
  readonly after: string
  readonly sinceMs: number | null
  /** All of them where it is null. */
  readonly types: ReadonlyArray<string> | null
  readonly limit: number
}
/** An event whose data is still JSON text. */
export type EventRow = Omit<StoredEvent, "data"> & { readonly data: string }
/** Result of a claim, with events as rows. */
export interface ClaimRow {
  readonly claimed: ReadonlyArray<{ readonly delivery: Delivery; readonly event: EventRow; readonly version: number }>
  readonly lapsed: ReadonlyArray<Delivery>
  readonly nextAtMs: number | null
}
/** A taken idempotency key. */
export interface IdempotencyRow {
  readonly key: string
  readonly seq: number
  /** Null once it was forgotten. */
  readonly digest: string | null
}

/** Answer type of each operation. Buffers are transferred. */
export interface WorkerAnswers {
  readonly open: null
  readonly commit: BatchAnswer
  readonly lease: boolean
  readonly releaseLease: null
  readonly close: null
  readonly head: Head | null
  readonly get: DocumentRow | null
  readonly find: ReadonlyArray<DocumentRow>
  readonly range: ReadonlyArray<DocumentRow>
  readonly list: ReadonlyArray<DocumentRow>
  readonly records: RecordPage
  readonly parts: PartPage
  readonly once: ReadonlyArray<IdempotencyRow>
  readonly idempotencyKeys: ReadonlyArray<IdempotencyRow & { readonly scope: string }>
  readonly counters: ReadonlyArray<number>
  readonly limits: ReadonlyArray<Taken>
  readonly hashes: ArrayBuffer
  readonly rehash: Rehashed | null
  readonly claim: ClaimRow
  readonly delivery: { readonly delivery: Delivery; readonly attempts: ReadonlyArray<Attempt> } | null
  readonly deliveriesOf: ReadonlyArray<Delivery>
  readonly event: EventRow | null
  readonly events: ReadonlyArray<EventRow>
  readonly owned: ReadonlyArray<EventRow>
  readonly missed: { readonly events: ReadonlyArray<EventRow>; readonly next: string | null }
  readonly forget: ForgetAnswer
}

/** The answer to one operation. */
export type AnswerTo<Op extends WorkerRequest["op"]> = WorkerAnswers[Op]

/** A request as it is posted, in a list. */
export interface Posted {
  readonly id: number
  readonly request: WorkerRequest
}

/** An answer as it is posted, in a list. */
export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly fault: Fault }
