/**
 * Statements that take as long as they take: migrations, and what a recovery carries along.
 *
 * A bound on their time would end work that goes well. What is bounded is silence: while such a statement runs, another
 * connection polls the server for whether it does.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { answered, AnswerTime, inTime } from "./in-time.ts"
import { type Connections, query } from "./sessions.ts"

/** A connection, as far as statements are run on it. */
export type Statements = Pick<PgConnection, "query">

/**
 * How long a statement may wait for a lock: another process that migrates, or somebody's forgotten transaction. Unit:
 * SQL's interval.
 */
export const lockTime = "90s"

/** Times that the server is polled while an answer may be waited for. */
const POLLS = 3

/**
 * The same connection, of which each statement may take any time while the server says that it runs.
 *
 * - `cut`: what ends it when the server says nothing, or that it does not run, for the time of an answer.
 * - `watch`: the connection for those polls. Never the pool that the connection is of: it may have no other.
 * - Fails: a statement fails as one does that is not answered in time.
 */
export const longStatements = (
  connection: PgConnection,
  cut: () => void,
  watch: Connections
): Effect.Effect<Statements, SqlError> =>
  Effect.gen(function* () {
    const timeMs = yield* AnswerTime
    const [session] = (yield* answered(connection.query("SELECT pg_backend_pid()::int4 AS pid"), cut)).rows
    // A server that keeps no account of what sessions do says `disabled`, as long as the session is there.
    const runs = Effect.map(
      query(watch, "SELECT state IN ('active', 'disabled') AS runs FROM pg_stat_activity WHERE pid = $1::int4", [
        session!["pid"]
      ]),
      ([row]) => row?.["runs"] === true
    )
    return {
      query: (...statement) =>
        inTime((restart) => {
          restart(cut)
          const poll = Effect.matchEffect(runs, {
            onFailure: () => Effect.void,
            onSuccess: (so) => Effect.sync(() => so && restart(cut))
          })
          const polling = Effect.forever(Effect.andThen(Effect.sleep(timeMs / POLLS), poll))
          return Effect.raceFirst(connection.query(...statement), polling)
        })
    }
  })
