/** The three faults of storage. Spec: style section 5. */
import { Data } from "effect"
import type { DeliveryState } from "./outbox/outbox.ts"

/** The state of a delivery, as far as a move reads it. */
interface DeliveryStanding {
  readonly state: DeliveryState
  readonly attempts: number
}

/** One unmet expectation of a commit. */
export type Conflict =
  | {
      readonly _tag: "Version"
      readonly collection: string
      readonly id: string
      readonly expected: number
      readonly found: number
    }
  | {
      readonly _tag: "Unique"
      readonly collection: string
      readonly key: string
      readonly value: string
      readonly id: string
    }
  | {
      readonly _tag: "IdempotencyKey"
      readonly index: number
      readonly scope: string
      readonly key: string
      readonly seq: number
    }
  | { readonly _tag: "Part"; readonly seq: number; readonly name: string; readonly found: "missing" | "erased" }
  | {
      readonly _tag: "Delivery"
      readonly id: string
      readonly expected: DeliveryStanding
      readonly found: DeliveryStanding | null
    }
  /** It would be sealed at `atMs`, and had to be before `beforeMs`. */
  | { readonly _tag: "Late"; readonly beforeMs: number; readonly atMs: number }
  /** The counter has this value, and an addition to it would exceed `atMost`. */
  | { readonly _tag: "Count"; readonly name: string; readonly value: number; readonly atMost: number }
  /** The event of a redelivery does not exist. */
  | { readonly _tag: "Event"; readonly id: string }
  | { readonly _tag: "NotEmpty" }
  | { readonly _tag: "Empty" }

/** Data that was read has changed: read again, plan again. Nothing was written. */
export class StorageConflict extends Data.TaggedError("StorageConflict")<{
  readonly conflicts: ReadonlyArray<Conflict>
}> {
  override get message(): string {
    return (
      `The commit was refused: ${this.conflicts.map((conflict) => conflict._tag).join(", ")}. Nothing was ` +
      "written; read again and plan again."
    )
  }
}

/** True where a counter would pass its most: a quota or limit is reached. */
export const isCountReached = (error: unknown): error is StorageConflict =>
  error instanceof StorageConflict && error.conflicts.some((one) => one._tag === "Count")

/**
 * The store cannot be reached, or cannot write now. Retry later. `wrote`: whether the change may be durable
 * nevertheless. `contended`: the store works, but others kept changing the data that the act reads, and it gave up.
 */
export class StorageUnavailable extends Data.TaggedError("StorageUnavailable")<{
  readonly reason: string
  readonly wrote: "no" | "unknown"
  readonly contended?: true
  readonly cause?: unknown
}> {
  override get message(): string {
    if (this.contended === true)
      return `Other requests kept changing the same documents: ${this.reason}. Nothing was written; send it again.`
    return (
      `The store is unavailable: ${this.reason}. ` +
      `${
        this.wrote === "no"
          ? "Nothing was written."
          : "It is unknown whether the change was written; send it again, it is idempotent."
      }`
    )
  }
}

/** The store contains a contradiction. Never retry; an operator must intervene. */
export class StorageCorrupt extends Data.TaggedError("StorageCorrupt")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `The store is corrupt: ${this.reason}. Stop writing and restore or recover.`
  }
}
