/** Read, plan, commit, and again when what was read has changed meanwhile. Spec: style section 4. */
import { Clock, Effect } from "effect"
import { LostBefore } from "./commit-lines.ts"
import { type DocumentName, withDocumentLock, lockName } from "./document-lock.ts"
import { StorageConflict, StorageUnavailable } from "./faults.ts"
import type { StorageApi } from "./port.ts"
import { timeProblem } from "./store-time.ts"

/**
 * Times an act is planned before it gives up.
 *
 * - Unit: attempts. Each loses only to another writer that succeeded. Between hosts of one store that is not fair: the
 *   host that won is the first to know it, and wins again while acts of its own wait for the document. Three hosts with
 *   66 acts each on one document lose up to 94 times in a row. So many more are a bug, and must not spin for ever.
 */
export const MAX_ATTEMPTS = 512

/**
 * Times an act without a document lock loses before it takes one. Unit: attempts. Most lose once: to lock at once would
 * keep acts apart that share a group.
 */
const ATTEMPTS_BEFORE_LOCK = 8

/**
 * Runs an attempt (which reads, plans and commits, over `storage`) until it is not refused by a conflict.
 *
 * Acts over one open store that change one document do so one after the other, in the order in which they came. An act
 * that names the document (`changes`) takes the lock from the start, others once they have lost often. So an act loses
 * only to other processes, or to another governor of this one.
 *
 * - Fails: as the attempt does; `StorageUnavailable`, `contended`, when every attempt met a conflict, and where the
 *   clock is past the year 9999. Nothing was written then.
 */
export const commitWithRetry = <A, E, R>(
  storage: StorageApi,
  attempt: Effect.Effect<A, E | StorageConflict, R>,
  changes?: DocumentName
): Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs): Planned<A, E, R> => {
    // Plans write instants of the host's clock, which need not be the store's.
    const untimely = timeProblem(nowMs, null)
    if (untimely !== null) return Effect.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
    return changes === undefined
      ? attempts(storage, attempt, null, MAX_ATTEMPTS)
      : lockedAttempts(storage, attempt, lockName(changes), MAX_ATTEMPTS)
  })

type Planned<A, E, R> = Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R>

/** Not `Effect.retry`: it makes a schedule for each call, and nearly all succeed at once. */
const attempts = <A, E, R>(
  storage: StorageApi,
  attempt: Effect.Effect<A, E | StorageConflict, R>,
  lock: string | null,
  left: number
): Planned<A, E, R> =>
  Effect.catchIf(
    left === MAX_ATTEMPTS ? attempt : returning(attempt),
    isConflict,
    (conflict): Effect.Effect<A, unknown, R> => {
      if (left === 1)
        return Effect.fail(
          new StorageUnavailable({
            reason: `the documents that this act reads kept changing, ${MAX_ATTEMPTS} times in a row`,
            wrote: "no",
            contended: true
          })
        )
      const next = lockAfter(conflict as StorageConflict, lock, left - 1)
      if (next === lock) return attempts(storage, attempt, lock, left - 1)
      return lock === null
        ? lockedAttempts(storage, attempt, next!, left - 1)
        : Effect.fail(new OtherLock(next!, left - 1))
    }
  ) as Planned<A, E, R>

/** The same act, which keeps its place before commits that have not had a turn. */
export const returning = Effect.provideService(LostBefore, true)

/**
 * Attempts under a document lock. An act that loses over another document leaves its lock for that one's: none holds
 * two, so no two wait for each other.
 */
const lockedAttempts = <A, E, R>(
  storage: StorageApi,
  attempt: Effect.Effect<A, E | StorageConflict, R>,
  lock: string,
  left: number
): Planned<A, E, R> =>
  Effect.catch(withDocumentLock(storage, lock, attempts(storage, attempt, lock, left)), (error: unknown) =>
    error instanceof OtherLock ? lockedAttempts(storage, attempt, error.lock, error.left) : Effect.fail(error)
  ) as Planned<A, E, R>

/** Leaves one lock for another. Never seen outside of this file. */
class OtherLock {
  readonly lock: string
  readonly left: number
  constructor(lock: string, left: number) {
    this.lock = lock
    this.left = left
  }
}

/** The lock to try again under: the same, or that of the document that the act lost over. */
const lockAfter = ({ conflicts }: StorageConflict, lock: string | null, left: number): string | null => {
  if (MAX_ATTEMPTS - left < ATTEMPTS_BEFORE_LOCK) return lock
  const version = conflicts.find((one) => one._tag === "Version")
  return version === undefined ? lock : lockName(version)
}

const isConflict = (error: unknown): error is StorageConflict => error instanceof StorageConflict
