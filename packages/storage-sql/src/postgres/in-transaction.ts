/** A transaction around a piece of work. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Statements } from "./long-statements.ts"

/**
 * Runs `use` in a transaction: committed when it succeeds, rolled back when it does not.
 *
 * - `begin` is the statement that opens it.
 */
export const inTransaction = <A, E>(
  connection: Statements,
  begin: string,
  use: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> =>
  Effect.acquireUseRelease(
    connection.query(begin),
    () => Effect.flatMap(use, (answer) => Effect.as(connection.query("COMMIT"), answer)),
    // After COMMIT this does nothing but warn.
    () => Effect.ignore(connection.query("ROLLBACK"))
  )
