/**
 * The signing guard as one row of a Postgres table. Decision 0042 of core.
 *
 * Advancing is one UPDATE that names the state it replaces: of two signers that read the same state, the row's lock
 * lets one through, and the other finds another state. Each statement is its own transaction, and is durable when the
 * server answers (`synchronous_commit=on`, so a synchronous standby has it too). A statement whose answer is lost may
 * have been done: then the guard is ahead of the store's checkpoint, as after a crash.
 */
import type { GuardApi, SignedState } from "@flyball/core/storage"
import { sameState } from "@flyball/core/storage"
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inTransaction } from "../postgres/in-transaction.ts"
import { AnswerTime } from "../postgres/in-time.ts"
import { inSchema, quoted } from "../postgres/migrations.ts"
import { faultOf, sqlState } from "../postgres/postgres-fault.ts"
import { type Connections, lend, query, type Row } from "../postgres/sessions.ts"

/** A guard on Postgres, with what a backup and a restore do to it. Spec: decision 0042. */
export interface GuardRow extends Required<Omit<GuardApi, "mayBegin">> {
  /**
   * Puts the state of a backup into a guard that holds none: in doubt until {@link GuardRow.accept}. False when another
   * state is there, and then nothing has changed. One that holds this state already is left as it is.
   */
  readonly install: (state: SignedState) => Effect.Effect<boolean, StorageUnavailable | StorageCorrupt>
  /** Takes a backup's state for what was signed last. Answers it; null when the state is none of a backup's. */
  readonly accept: Effect.Effect<SignedState | null, StorageUnavailable | StorageCorrupt>
  /** Takes back what {@link GuardRow.install} put there, where it still is the backup's. */
  readonly takeBack: (state: SignedState) => Effect.Effect<void, StorageUnavailable | StorageCorrupt>
}

/**
 * How long an answer of the guard's database may take. Unit: milliseconds. Below the 15 s that a shutdown waits for its
 * last checkpoint.
 */
const answerMs = 8_000

const makeTable = `CREATE TABLE flyball.signed (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  origin text NOT NULL,
  size bigint NOT NULL CHECK (size >= 1),
  root_hex text NOT NULL CHECK (root_hex ~ '^[0-9a-f]{64}$'),
  from_backup boolean NOT NULL
)`

const findTable = `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1::text AND c.relname = 'signed'`

const readRow = "SELECT origin, size::text AS size, root_hex, from_backup FROM flyball.signed"

const begin = `INSERT INTO flyball.signed AS s (one, origin, size, root_hex, from_backup)
  VALUES (true, $1::text, $2::int8, $3::text, $4::boolean)
  ON CONFLICT (one) DO UPDATE SET size = s.size
  WHERE s.origin = $1::text AND s.size = $2::int8 AND s.root_hex = $3::text RETURNING 1 AS done`

/** Also where the new state exists already: the answer then says that it is durable. */
const move = `UPDATE flyball.signed AS s SET origin = $4::text, size = $5::int8, root_hex = $6::text,
  from_backup = from_backup AND s.origin = $4::text AND s.size = $5::int8 AND s.root_hex = $6::text
  WHERE (s.origin = $4::text AND s.size = $5::int8 AND s.root_hex = $6::text)
  OR (s.origin = $1::text AND s.size = $2::int8 AND s.root_hex = $3::text
    AND NOT (s.from_backup AND s.origin = $4::text)) RETURNING 1 AS done`

const acceptRow = `UPDATE flyball.signed SET from_backup = false WHERE from_backup
  RETURNING origin, size::text AS size, root_hex, from_backup`

const removeRow = `DELETE FROM flyball.signed
  WHERE from_backup AND origin = $1::text AND size = $2::int8 AND root_hex = $3::text`

/** The guard in a schema that {@link makeGuardTable} made, or that may lack its table where nothing is written. */
export const guardRow = (pool: Connections, schema: string, place: string): GuardRow => {
  const ask = (sql: string, params: ReadonlyArray<unknown> = []) =>
    bounded(query(pool, inSchema(sql, schema), params), place)
  const row = query(pool, inSchema(readRow, schema)).pipe(
    // A guard that nothing was ever signed with, as a command that reads finds it.
    Effect.catch((error) => (sqlState(error) === "42P01" ? Effect.succeed([]) : Effect.fail(error))),
    (rows) => bounded(rows, place)
  )
  const current = Effect.flatMap(row, ([found]) => {
    if (found === undefined) return Effect.succeed(null)
    const state = stateOf(found)
    return state === null ? Effect.fail(garbled(place)) : Effect.succeed(state)
  })
  const inDoubt = Effect.map(row, ([found]) => found?.["from_backup"] === true)
  const advance: GuardRow["advance"] = Effect.fnUntraced(function* (from, to) {
    const done = yield* from === null ? ask(begin, [...values(to), false]) : ask(move, [...values(from), ...values(to)])
    if (done.length === 1) return true
    const [held] = yield* row
    if (held?.["from_backup"] === true && sameState(stateOf(held), from) && from?.origin === to.origin)
      return yield* new StorageCorrupt({ reason: `the signing guard in ${place}: ${IN_DOUBT}` })
    return false
  })
  return {
    read: current,
    inDoubt,
    advance,
    install: (state) => Effect.map(ask(begin, [...values(state), true]), (done) => done.length === 1),
    accept: Effect.map(ask(acceptRow), ([found]) => (found === undefined ? null : stateOf(found))),
    takeBack: (state) => Effect.asVoid(ask(removeRow, values(state)))
  }
}

const IN_DOUBT =
  "this is a backup's guard, and more may have been signed than it knows of. Start the server once more: it says " +
  "what can be done"

/** Makes schema and table where they are missing. Any number of processes may do so at once. */
export const makeGuardTable = (
  pool: Connections,
  schema: string,
  place: string
): Effect.Effect<void, StorageUnavailable | StorageCorrupt> =>
  bounded(
    lend(pool, (connection) =>
      Effect.gen(function* () {
        if ((yield* connection.query(findTable, [schema])).rows.length > 0) return
        yield* inTransaction(
          connection,
          "BEGIN",
          Effect.gen(function* () {
            yield* connection.query(
              "SELECT pg_advisory_xact_lock(hashtextextended('flyball guard of ' || $1::text, 0))",
              [schema]
            )
            if ((yield* connection.query(findTable, [schema])).rows.length > 0) return
            // CREATE SCHEMA needs a privilege on the database even when the schema exists, so read first.
            const there = yield* connection.query("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [schema])
            if (there.rows.length === 0) yield* connection.query(`CREATE SCHEMA ${quoted(schema)}`)
            yield* connection.query(inSchema(makeTable, schema))
          })
        )
      })
    ),
    place
  )

const bounded = <A>(
  effect: Effect.Effect<A, SqlError>,
  place: string
): Effect.Effect<A, StorageUnavailable | StorageCorrupt> =>
  effect.pipe(
    Effect.provideService(AnswerTime, answerMs),
    // Whether it was done is not known where the answer is lost; asking again is safe either way.
    Effect.mapError((error) => ofGuard(faultOf(error, "unknown"), place))
  )

const ofGuard = (fault: StorageUnavailable | StorageCorrupt, place: string): StorageUnavailable | StorageCorrupt => {
  const reason = `the signing guard in ${place}: ${fault.reason}`
  return fault._tag === "StorageUnavailable"
    ? new StorageUnavailable({ reason, wrote: fault.wrote, cause: fault })
    : new StorageCorrupt({ reason, cause: fault })
}

const values = ({ origin, rootHex, size }: SignedState): ReadonlyArray<unknown> => [origin, String(size), rootHex]

/** Null where the row holds what no guard wrote. */
const stateOf = (row: Row): SignedState | null => {
  const { origin, root_hex: rootHex, size: text } = row
  const size = Number(text)
  return typeof origin === "string" &&
    /^[\x21-\x2a\x2c-\x7e]{1,255}$/.test(origin) &&
    typeof rootHex === "string" &&
    /^[0-9a-f]{64}$/.test(rootHex) &&
    Number.isSafeInteger(size) &&
    size >= 1
    ? { origin, size, rootHex }
    : null
}

const garbled = (place: string): StorageCorrupt =>
  new StorageCorrupt({
    reason:
      `the signing guard in ${place}: its row is not what the guard wrote, so what was signed last is not known. ` +
      "Bring the newest copy of that database back"
  })
