/** Read, plan, commit, and again when what was read has changed meanwhile. Spec: style section 4. */
import { Clock, Effect } from "effect"
import { type DocumentName, withDocumentLock, lockName } from "./document-lock.ts"
import { StorageConflict, StorageUnavailable } from "./faults.ts"
import type { StorageApi } from "./port.ts"
import { timeProblem } from "./store-time.ts"

/**
 * Times an act is planned before it gives up.
 *
 * - Unit: attempts. Each loses only to another writer that succeeded. Between hosts of one store that is not fair: who
 *   has won is the first to know it, and wins again for as long as others
 *  stand in its line. Three hosts with 66 acts each on one document lose up to 94 times in a row. So many more are a
 * bug, and must not spin for ever.
 */
export const MAX_ATTEMPTS = 512

/**
 * Times an act that stands in no line loses before it takes its place in one. Unit: attempts. Most lose once: to stand
 * in line at once would keep acts apart that share a group.
 */
const ATTEMPTS_AT_ONCE = 8

/**
 * Runs an attempt (which reads, plans and commits, over `storage`) until it is not refused by a conflict.
 *
 * Acts over one open store that change one document do so one after the other, in the order in which they came: those
 * that say which it is (`changes`) from the
 * start, others once they have lost often. So what is lost is lost to other processes, or to another governor of this
 * one.
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
      : standing(storage, attempt, lockName(changes), MAX_ATTEMPTS)
  })

type Planned<A, E, R> = Effect.Effect<A, Exclude<E, StorageConflict> | StorageUnavailable, R>

/** Not `Effect.retry`: it makes a schedule for each call, and nearly all succeed at once. */
const attempts = <A, E, R>(
  storage: StorageApi,
  attempt: Effect.Effect<A, E | StorageConflict, R>,
  line: string | null,
  left: number
): Planned<A, E, R> =>
  Effect.catchIf(attempt, isConflict, (conflict): Effect.Effect<A, unknown, R> => {
    if (left === 1)
      return Effect.fail(
        new StorageUnavailable({
          reason: `the documents that this act reads kept changing, ${MAX_ATTEMPTS} times in a row`,
          wrote: "no",
          contended: true
        })
      )
    const next = lineAfter(conflict as StorageConflict, line, left - 1)
    if (next === line) return attempts(storage, attempt, line, left - 1)
    return line === null ? standing(storage, attempt, next!, left - 1) : Effect.fail(new Moves(next!, left - 1))
  }) as Planned<A, E, R>

/**
 * Attempts in a line. Who stands in one and loses over another document goes to that one's: nobody stands in two, so no
 * two wait for each other.
 */
const standing = <A, E, R>(
  storage: StorageApi,
  attempt: Effect.Effect<A, E | StorageConflict, R>,
  line: string,
  left: number
): Planned<A, E, R> =>
  Effect.catch(withDocumentLock(storage, line, attempts(storage, attempt, line, left)), (error: unknown) =>
    error instanceof Moves ? standing(storage, attempt, error.line, error.left) : Effect.fail(error)
  ) as Planned<A, E, R>

/** Leaves one line for another. Never seen outside of this file. */
class Moves {
  readonly line: string
  readonly left: number
  constructor(line: string, left: number) {
    this.line = line
    this.left = left
  }
}

/** Where to try again: where it was, or before the document that it lost over. */
const lineAfter = ({ conflicts }: StorageConflict, line: string | null, left: number): string | null => {
  if (MAX_ATTEMPTS - left < ATTEMPTS_AT_ONCE) return line
  const version = conflicts.find((one) => one._tag === "Version")
  return version === undefined ? line : lockName(version)
}

const isConflict = (error: unknown): error is StorageConflict => error instanceof StorageConflict
