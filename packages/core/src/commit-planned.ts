/** Read, plan, commit, and again when what was read has changed meanwhile. Spec: style section 4. */
import { Effect } from "effect"
import { StorageUnavailable } from "./storage/faults.ts"
import type { StorageConflict } from "./storage/faults.ts"

/**
 * Times an act is planned before it gives up.
 *
 * - Unit: attempts. Each loses only to another writer that succeeded. One that meets two others who never rest loses twice of three times; 64 in a row are a bug, and must not spin for ever.
 */
export const MAX_ATTEMPTS = 64

/**
 * Runs an attempt (which reads, plans and commits) until it is not refused by a conflict.
 *
 * - Fails: as the attempt does; `StorageUnavailable` when every attempt met a conflict. Nothing was written then.
 */
export const commitPlanned = <A, E, R>(attempt: Effect.Effect<A, E | StorageConflict, R>): Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R> =>
  attempts(attempt, MAX_ATTEMPTS)

/** Not `Effect.retry`: it makes a schedule for each call, and nearly all succeed at once. */
const attempts = <A, E, R>(attempt: Effect.Effect<A, E | StorageConflict, R>, left: number): Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R> =>
  Effect.catchIf(attempt, isConflict, () =>
    left > 1 ? attempts(attempt, left - 1) : Effect.fail(new StorageUnavailable({ reason: `what this act reads kept changing, ${MAX_ATTEMPTS} times in a row`, wrote: "no", contended: true }))
  ) as Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R>

const isConflict = (error: unknown): error is StorageConflict =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "StorageConflict"
