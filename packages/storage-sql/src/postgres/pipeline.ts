/** Several statements in one round trip. */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Fiber } from "effect"
import { SqlError, StatementTimeoutError } from "effect/sql/SqlError"

/** A statement with its parameters. */
export interface Query {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  /** False for BEGIN and COMMIT: the driver sends a named statement that the server forgot a second time, and then behind the others. */
  readonly prepare?: boolean
}

/** What became of one statement. */
export type Answered = Exit.Exit<Result, SqlError>

/** How long the server may take over all statements of one round trip; its own limits end first, unless it cannot be reached. */
const answerTimeout = "90 seconds"

/**
 * Sends all statements at once, on a multiplexed connection that nobody else uses, and answers one exit for each.
 *
 * They run in order, each as its own cycle: inside a transaction the first failure makes all later ones fail, and COMMIT then answers ROLLBACK.
 *
 * - Fails: when a statement could not be sent. Those behind it were not sent either, so a COMMIT at the end has not happened.
 */
export const pipeline = Effect.fnUntraced(function*(connection: PgConnection, queries: ReadonlyArray<Query>) {
  const fibers: Array<Fiber.Fiber<Result, SqlError>> = []
  for (const { sql, params, prepare } of queries) {
    // Started at once, each is in the queue (or has failed) before the next one starts: the order is ours, not the scheduler's.
    const fiber = yield* Effect.forkDetach(connection.query(sql, params, prepare), { startImmediately: true })
    const unsent = fiber.pollUnsafe()
    if (unsent !== undefined && Exit.isFailure(unsent)) return yield* Effect.failCause(unsent.cause)
    fibers.push(fiber)
  }
  return yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber)).pipe(
    Effect.interruptible,
    Effect.timeoutOrElse({ duration: answerTimeout, orElse: () => Effect.succeed(queries.map((): Answered => Exit.fail(silence()))) })
  )
})

const silence = (): SqlError =>
  new SqlError({ reason: new StatementTimeoutError({ cause: new Error("no answer in time"), message: "No answer in time", operation: "query" }) })
