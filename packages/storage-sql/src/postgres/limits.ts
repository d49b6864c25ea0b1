/**
 * Rate limits and permits on Postgres: a group of requests is one transaction on a connection of its own, in two round
 * trips. Rows are locked in the order of their subjects, so that no two groups wait for each other.
 *
 * Its COMMIT does not wait for the disk: where the server crashes, it may forget what was taken in the last second.
 */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import type { LimitRequest, ReadFault, Taken } from "@flyball/core/storage"
import { LIMITS_SWEEP_MS, rowEndS, type RowState, StorageUnavailable, takeLimits } from "@flyball/core/storage"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { inSchema } from "./migrations.ts"
import type { Query } from "./pipeline.ts"
import { pipeline } from "./pipeline.ts"
import { faultOf, isLost } from "./postgres-fault.ts"
import { inRealTime } from "./real-time.ts"
import { type Connections, intArray } from "./sessions.ts"

const text = {
  insert: `INSERT INTO flyball.limits (subject, ends_s, state) SELECT subject, 0, ''
    FROM unnest($1::text[]) AS s(subject) ORDER BY subject COLLATE "C" ON CONFLICT DO NOTHING`,
  // The time is read after the wait for the locks.
  lock: `WITH l AS MATERIALIZED
    (SELECT subject, state FROM flyball.limits WHERE subject = ANY ($1::text[]) ORDER BY subject FOR UPDATE)
    SELECT subject, state, flyball.flyball_now()::float8 AS now_ms FROM l`,
  write: `UPDATE flyball.limits l SET ends_s = w.ends_s, state = w.state
    FROM unnest($1::text[], $2::int8[], $3::text[]) AS w(subject, ends_s, state) WHERE l.subject = w.subject`,
  sweep: `DELETE FROM flyball.limits WHERE subject IN
    (SELECT subject FROM flyball.limits WHERE ends_s < $1::int8 LIMIT 1000 FOR UPDATE SKIP LOCKED)`
}

const begin: Query = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", params: [], prepare: false }
const commit: Query = { sql: "COMMIT", params: [], prepare: false }
const rollback: Query = { sql: "ROLLBACK", params: [], prepare: false }

/** Makes the function that answers groups, for one schema. `limiter` has one connection. */
export const limitsIn = (limiter: Connections, schema: string) => {
  const sql = Object.fromEntries(
    Object.entries(text).map(([name, query]) => [name, inSchema(query, schema)])
  ) as typeof text
  let sweptMs = 0

  const send = (
    connection: PgConnection,
    queries: ReadonlyArray<Query>
  ): Effect.Effect<ReadonlyArray<Result>, SqlError> =>
    Effect.flatMap(pipeline(connection, queries, limiter.cut), (exits) => Effect.all(exits))

  /** Locks the rows. Those that are missing, or that a sweep deletes before they are locked, are inserted first. */
  const lock = (
    connection: PgConnection,
    subjects: ReadonlyArray<string>,
    inserts: boolean
  ): Effect.Effect<Result["rows"], SqlError> =>
    Effect.flatMap(
      send(connection, [
        begin,
        ...(inserts ? [{ sql: sql.insert, params: [subjects] }] : []),
        { sql: sql.lock, params: [subjects] }
      ]),
      (answers) => {
        const { rows } = answers.at(-1)!
        if (rows.length === subjects.length) return Effect.succeed(rows)
        return Effect.andThen(send(connection, [rollback]), lock(connection, subjects, true))
      }
    )

  const write = (connection: PgConnection, changed: ReadonlyMap<string, RowState>): Effect.Effect<void, ReadFault> => {
    const states = [...changed.values()]
    const params = [[...changed.keys()], intArray(states.map(rowEndS)), states.map((state) => JSON.stringify(state))]
    return Effect.matchEffect(send(connection, [{ sql: sql.write, params }, commit]), {
      onFailure: (error) => Effect.fail(faultOf(error, "unknown")),
      onSuccess: (answers) =>
        answers.at(-1)!.command === "COMMIT"
          ? Effect.void
          : Effect.fail(new StorageUnavailable({ reason: "Postgres rolled the limits back", wrote: "no" }))
    })
  }

  const attempt = Effect.fnUntraced(function* (
    connection: PgConnection,
    requests: ReadonlyArray<LimitRequest>
  ): Effect.fn.Return<ReadonlyArray<Taken>, SqlError | ReadFault> {
    const subjects = new Set(
      requests.flatMap(({ held, rows }) => [
        ...rows.map(({ subject }) => subject),
        ...(held === undefined ? [] : [held.subject])
      ])
    )
    const found = yield* lock(connection, [...subjects], false)
    const nowMs = found[0]!["now_ms"] as number
    const states = new Map(found.map((row) => [row["subject"] as string, row["state"] as string]))
    const stateOf = (subject: string): RowState | undefined => {
      const state = states.get(subject) ?? ""
      return state === "" ? undefined : (JSON.parse(state) as RowState)
    }
    const { changed, taken } = takeLimits(stateOf, requests, nowMs)
    if (changed.size === 0) yield* send(connection, [rollback])
    else yield* write(connection, changed)
    if (Math.abs(nowMs - sweptMs) >= LIMITS_SWEEP_MS) {
      sweptMs = nowMs
      yield* Effect.ignore(send(connection, [{ sql: sql.sweep, params: [String(Math.floor(nowMs / 1000))] }]))
    }
    return taken
  })

  /** Leaves no transaction open: closing the session ends it, whatever state it is in. */
  const onConnection = (requests: ReadonlyArray<LimitRequest>) =>
    Effect.scoped(
      Effect.flatMap(limiter.get, (connection) =>
        Effect.onExit(attempt(connection, requests), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : limiter.invalidate(connection)
        )
      )
    )

  return (requests: ReadonlyArray<LimitRequest>): Effect.Effect<ReadonlyArray<Taken>, ReadFault> =>
    requests.length === 0
      ? Effect.succeed([])
      : inRealTime(
          // Nothing was written then: a session that died while it was idle may be noticed only now.
          Effect.retry(onConnection(requests), {
            times: 1,
            while: (error) => error instanceof SqlError && isLost(error)
          })
        ).pipe(Effect.mapError((error) => (error instanceof SqlError ? faultOf(error) : error)))
}
