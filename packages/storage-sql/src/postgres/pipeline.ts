/** Several statements in one round trip. */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Fiber } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { answered } from "./in-time.ts"

/** A statement with its parameters. */
export interface Query {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  /**
   * False for BEGIN and COMMIT: the driver sends a named statement that the server forgot a second time, and then
   * behind the others.
   */
  readonly prepare?: boolean
}

/** Result of one statement. */
export type Answered = Exit.Exit<Result, SqlError>

/**
 * Sends all statements at once, on a multiplexed connection that nobody else uses, and answers one exit for each.
 *
 * All answers have to come within the time for one; else the connection is cut, by `cut`.
 *
 * They run in order, each as its own cycle: inside a transaction the first failure makes all later ones fail, and
 * COMMIT then answers ROLLBACK.
 *
 * - Fails: when a statement could not be sent. Those behind it were not sent either, so a COMMIT at the end has not
 *   happened.
 */
export const pipeline = Effect.fnUntraced(function* (
  connection: PgConnection,
  queries: ReadonlyArray<Query>,
  cut: () => void
) {
  const fibers: Array<Fiber.Fiber<Result, SqlError>> = []
  for (const { sql, params, prepare } of queries) {
    // Started at once, each is in the queue (or has failed) before the next one starts: the order is ours, not the
    // scheduler's.
    const fiber = yield* Effect.forkDetach(connection.query(sql, params, prepare), { startImmediately: true })
    const unsent = fiber.pollUnsafe()
    if (unsent !== undefined && Exit.isFailure(unsent)) return yield* Effect.failCause(unsent.cause)
    fibers.push(fiber)
  }
  return yield* answered(
    Effect.forEach(fibers, (fiber) => Fiber.await(fiber)),
    cut
  ).pipe(Effect.catch((silence) => Effect.succeed(queries.map((): Answered => Exit.fail(silence)))))
})
