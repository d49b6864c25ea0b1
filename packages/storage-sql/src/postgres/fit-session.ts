/**
 * Checks each session of a pool before its first use: that it is of a server that writes, with the settings that it was
 * opened with.
 *
 * - A standby answers reads, and may lag: an agent that was halted on the primary would read there that it may run.
 * - A pooler may drop start-up parameters. A role with `synchronous_commit=off` would then lose commits that were
 *   acknowledged.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { answered } from "./in-time.ts"
import { unfitSession } from "./postgres-fault.ts"

/** The settings of a session, by name. */
export type Settings = { readonly [name: string]: string }

/**
 * The same pool, which lends no session that is unfit: the session is closed, and who wanted it fails. The next one may
 * be of another server.
 *
 * - `cut`: what ends the pool's connections when the check is not answered.
 * - Spec: decision 0062 of core.
 */
export const onlyFit = (pool: PgPool, settings: Settings, cut: () => void): PgPool => {
  // Times are shown in another unit than they were given in. Who drops one parameter drops all.
  const compared = Object.entries(settings).filter(([, value]) => !/^\d/.test(value))
  const params = [compared.map(([name]) => name), compared.map(([, value]) => value)]
  const fit = new WeakSet<PgConnection>()

  const check = (connection: PgConnection): Effect.Effect<void, SqlError> =>
    answered(connection.query(question, params, false), cut).pipe(
      Effect.flatMap(({ rows: [row] }) => {
        const problem = problemIn(row as unknown as Found)
        if (problem !== null) return Effect.andThen(pool.invalidate(connection), Effect.fail(unfitSession(problem)))
        fit.add(connection)
        return Effect.void
      })
    )
  const get = Effect.flatMap(pool.get, (connection) =>
    fit.has(connection) ? Effect.succeed(connection) : Effect.as(check(connection), connection)
  )
  return {
    ...pool,
    get,
    reserve: Effect.flatMap(get, ({ pin }) => pin),
    use: (run) =>
      pool.use((connection) =>
        fit.has(connection) ? run(connection) : Effect.andThen(check(connection), run(connection))
      )
  }
}

/** Without a name it passes a pooler that gives each transaction another session. */
const question = `SELECT pg_is_in_recovery() AS standby, (
    SELECT string_agg(w.name || ' is ' || current_setting(w.name), ', ' ORDER BY w.name)
    FROM unnest($1::text[], $2::text[]) AS w(name, value) WHERE current_setting(w.name) <> w.value
  ) AS lost`

interface Found {
  readonly standby: boolean
  readonly lost: string | null
}

const problemIn = ({ lost, standby }: Found): string | null => {
  if (standby)
    return "Postgres is a standby at this address, and its data may be old; the address must lead to the primary"
  return lost === null
    ? null
    : `a session of Postgres lacks the settings that it was opened with (${lost}): a pooler in between drops them; ` +
        "connect to Postgres itself"
}
