/**
 * A clock that tests set. Nothing in the shipped product calls this. Spec: design section 3, "One clock per verdict".
 */
import { Effect } from "effect"
import { migrate } from "./migrate.ts"
import { inSchema } from "./migrations.ts"
import { defaultSchema } from "./postgres-storage.ts"
import { openSessions } from "./sessions.ts"

/** The replaced clock of one store. */
export interface PostgresClock {
  /** Sets storage's time, forwards or back. Unit: milliseconds since 1970. */
  readonly set: (atMs: number) => Promise<void>
}

const replacement = (now: string): ReadonlyArray<string> => [
  "CREATE TABLE IF NOT EXISTS flyball.test_clock (at_ms bigint NOT NULL)",
  "DELETE FROM flyball.test_clock",
  "INSERT INTO flyball.test_clock VALUES (0)",
  `CREATE OR REPLACE FUNCTION flyball.flyball_now() RETURNS bigint LANGUAGE sql VOLATILE AS '${now}'`
]

/**
 * A test migration: makes `flyball_now()` read a row, 0 at first. Brings the schema up to date before.
 *
 * - Fails: rejects with the server's error.
 */
export const replacePostgresClock = async (url: string, schema: string = defaultSchema): Promise<PostgresClock> => {
  const run = await replaced(url, schema, "SELECT at_ms FROM flyball.test_clock")
  return { set: (atMs) => run([["UPDATE flyball.test_clock SET at_ms = $1::int8", [String(Math.floor(atMs))]]]) }
}

/** As {@link replacePostgresClock}, of a clock that runs as the server's does, and steps on request. */
export const shiftPostgresClock = async (
  url: string,
  schema: string = defaultSchema
): Promise<{ readonly shift: (ms: number) => Promise<void> }> => {
  const run = await replaced(
    url,
    schema,
    "SELECT at_ms + floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM flyball.test_clock"
  )
  return { shift: (ms) => run([["UPDATE flyball.test_clock SET at_ms = at_ms + $1::int8", [String(Math.floor(ms))]]]) }
}

type Run = (statements: ReadonlyArray<readonly [sql: string, params: ReadonlyArray<unknown>]>) => Promise<void>

const replaced = async (url: string, schema: string, now: string): Promise<Run> => {
  const run: Run = (statements) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const { readers, writer } = yield* openSessions({ url, maxConnections: 2 })
          yield* migrate(readers, writer, schema)
          for (const [sql, params] of statements)
            yield* readers.use((connection) => connection.query(inSchema(sql, schema), params, false))
        })
      )
    )
  await run(replacement(now).map((sql) => [sql, []]))
  return run
}
