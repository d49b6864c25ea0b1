/** The storage worker's response to a batch: one answer per ChangeSet. */
import type { CommitReceipt, Conflict } from "@flyball/core/storage"

/** A fault as it crosses threads. `Defect` is a bug: a draft that breaks the format, or code of ours that threw. */
export type Fault =
  | { readonly _tag: "Unavailable"; readonly reason: string; readonly wrote: "no" | "unknown" }
  | { readonly _tag: "Corrupt"; readonly reason: string }
  | { readonly _tag: "Defect"; readonly reason: string }

/** Result of one ChangeSet. */
export type Answer =
  | { readonly _tag: "Committed"; readonly receipt: CommitReceipt }
  | { readonly _tag: "Refused"; readonly conflicts: ReadonlyArray<Conflict> }
  | { readonly _tag: "Failed"; readonly fault: Fault }

/** The answers to a batch. */
export interface BatchAnswer {
  readonly answers: ReadonlyArray<Answer>
  /** True when the batch may have left a delivery that is not finished. */
  readonly hasDeliveries: boolean
}
