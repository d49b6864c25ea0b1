/** Reads that a group needs before it can be admitted, in as few statements as there are kinds of question. */
import type { Result } from "@effect/sql-pg/PgConnection"
import type { Head } from "@flyball/core/storage"
import { documentActs, StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import type { GroupView } from "./group-view.ts"
import { inSchema } from "./migrations.ts"
import { outboxLookups, outboxText } from "./outbox/outbox-lookups.ts"
import type { Query } from "./pipeline.ts"
import type { PreparedChange } from "./prepare.ts"
import { intArray } from "./sessions.ts"

const text = {
  once: `SELECT k.n::int4 AS n, o.seq::float8 AS seq, o.digest, r.hash, r.at_ms::float8 AS at_ms
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(scope, key, n)
    JOIN flyball.once o ON o.scope = k.scope AND o.key = k.key LEFT JOIN flyball.records r ON r.seq = o.seq`,
  versions: `SELECT k.n::int4 AS n, d.version::float8 AS version
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(collection, id, n)
    JOIN flyball.documents d ON d.collection = k.collection AND d.id = k.id`,
  unique: `SELECT k.n::int4 AS n, d.id
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k(collection, key, value, n)
    JOIN flyball.document_keys d ON d.collection = k.collection AND d.key = k.key AND d.value = k.value AND d.single`,
  parts: `SELECT k.n::int4 AS n, p.erased_by IS NULL AS present
    FROM unnest($1::int8[], $2::text[]) WITH ORDINALITY AS k(seq, name, n) JOIN flyball.parts p ON p.seq = k.seq
    AND p.name = k.name`,
  counts: "SELECT name, value::float8 AS value FROM flyball.counters WHERE name = ANY ($1::text[])"
}

/** One query with the reader of its rows. `n` counts from 1 in the order of the parameters. */
interface Lookup extends Query {
  readonly read: (view: GroupView, rows: Result["rows"]) => void
}

/** The queries of a group: those that may run before the lock, and those that must wait for it. */
export interface Lookups {
  readonly once: ReadonlyArray<Lookup>
  readonly state: ReadonlyArray<Lookup>
}

/** Makes the function that collects a group's questions, for one schema. */
export const lookupsIn = (schema: string): ((changes: ReadonlyArray<PreparedChange>) => Lookups) => {
  const sql = Object.fromEntries(
    Object.entries(text).map(([name, query]) => [name, inSchema(query, schema)])
  ) as typeof text
  const outbox = Object.fromEntries(
    Object.entries(outboxText).map(([name, query]) => [name, inSchema(query, schema)])
  ) as typeof outboxText
  return (changes) => ({
    once: idempotencyLookup(sql.once, changes),
    state: [
      ...versionLookup(sql.versions, changes),
      ...uniqueLookup(sql.unique, changes),
      ...partLookup(sql.parts, changes),
      ...countLookup(sql.counts, changes),
      ...outboxLookups(outbox, changes)
    ]
  })
}

const idempotencyLookup = (sql: string, changes: ReadonlyArray<PreparedChange>): ReadonlyArray<Lookup> => {
  const requested = changes.flatMap(({ change }) =>
    (change.records ?? []).flatMap(({ once }) => (once === undefined ? [] : [once]))
  )
  if (requested.length === 0) return []
  const read = (view: GroupView, rows: Result["rows"]): void => {
    for (const row of rows) {
      const { scope, key } = requested[(row["n"] as number) - 1]!
      const hash = row["hash"] as Uint8Array | null
      if (hash === null)
        throw new StorageCorrupt({
          reason: `an idempotency key names record ${row["seq"] as number}, which is missing`
        })
      const digest = row["digest"] as Uint8Array
      view.knowOnce(scope, key, digest.length === 0 ? null : toHex(digest), {
        seq: row["seq"] as number,
        hash,
        atMs: row["at_ms"] as number
      })
    }
  }
  return [{ sql, params: [requested.map(({ scope }) => scope), requested.map(({ key }) => key)], read }]
}

const versionLookup = (sql: string, changes: ReadonlyArray<PreparedChange>): ReadonlyArray<Lookup> => {
  const requested = changes.flatMap(({ change }) => [
    ...(change.expects ?? []),
    ...(change.puts ?? []),
    ...documentActs.flatMap((act) => change[act] ?? [])
  ])
  if (requested.length === 0) return []
  const read = (view: GroupView, rows: Result["rows"]): void => {
    for (const row of rows) {
      const { collection, id } = requested[(row["n"] as number) - 1]!
      view.knowVersion(collection, id, row["version"] as number)
    }
  }
  return [{ sql, params: [requested.map(({ collection }) => collection), requested.map(({ id }) => id)], read }]
}

const uniqueLookup = (sql: string, changes: ReadonlyArray<PreparedChange>): ReadonlyArray<Lookup> => {
  const requested = changes.flatMap(({ change }) =>
    (change.puts ?? []).flatMap(({ collection, unique }) =>
      Object.entries(unique ?? {}).map(([key, value]) => ({ collection, key, value }))
    )
  )
  if (requested.length === 0) return []
  const read = (view: GroupView, rows: Result["rows"]): void => {
    for (const row of rows) {
      const { collection, key, value } = requested[(row["n"] as number) - 1]!
      view.knowHolder(collection, key, value, row["id"] as string)
    }
  }
  return [
    {
      sql,
      params: [
        requested.map(({ collection }) => collection),
        requested.map(({ key }) => key),
        requested.map(({ value }) => value)
      ],
      read
    }
  ]
}

const partLookup = (sql: string, changes: ReadonlyArray<PreparedChange>): ReadonlyArray<Lookup> => {
  const requested = changes.flatMap(({ change }) => change.erase ?? [])
  if (requested.length === 0) return []
  const read = (view: GroupView, rows: Result["rows"]): void => {
    for (const row of rows) {
      const { seq, name } = requested[(row["n"] as number) - 1]!
      view.knowPart(seq, name, row["present"] === true ? "present" : "erased")
    }
  }
  return [{ sql, params: [intArray(requested.map(({ seq }) => seq)), requested.map(({ name }) => name)], read }]
}

const countLookup = (sql: string, changes: ReadonlyArray<PreparedChange>): ReadonlyArray<Lookup> => {
  const requested = changes.flatMap(({ change }) => (change.counts ?? []).map(({ name }) => name))
  if (requested.length === 0) return []
  const read = (view: GroupView, rows: Result["rows"]): void => {
    for (const row of rows) view.knowCount(row["name"] as string, row["value"] as number)
  }
  return [{ sql, params: [[...new Set(requested)]], read }]
}

/**
 * The head row, locked until the transaction ends, with the time after the lock was there (a plain select list would be
 * read before the wait).
 */
export const lockHead = (schema: string): Query => ({
  sql: inSchema(
    `WITH h AS MATERIALIZED (SELECT seq, hash, at_ms, oldest_writer, tableoid FROM flyball.head FOR UPDATE)
    SELECT seq::float8 AS seq, hash, at_ms::float8 AS at_ms, oldest_writer, tableoid::int8::float8 AS home,
    flyball.flyball_now()::float8 AS now_ms FROM h`,
    schema
  ),
  params: []
})

/** Result of {@link lockHead}. */
export interface LockedHead {
  /** Null while the chain is empty. */
  readonly head: Head | null
  readonly nowMs: number
  readonly oldestWriter: number
  /** Object id of the table: another one than before, when a recovery has put the store aside meanwhile. */
  readonly home: number
}

/** The refusal of a process that had the retired chain open. */
export const chainReplaced = (): StorageUnavailable =>
  new StorageUnavailable({
    reason:
      "a recovery has put the chain aside that this process had open, and began another; start the process " +
      "again to go on with the new one",
    wrote: "no"
  })

/** Reads the answer of {@link lockHead}; throws `StorageCorrupt` when it is not one row. */
export const readLockedHead = (rows: Result["rows"]): LockedHead => {
  const row = rows[0]
  if (row === undefined || rows.length !== 1)
    throw new StorageCorrupt({ reason: `expected one head row, saw ${rows.length}` })
  const head = { seq: row["seq"] as number, hash: row["hash"] as Uint8Array, atMs: row["at_ms"] as number }
  return {
    head: head.seq < 0 ? null : head,
    nowMs: row["now_ms"] as number,
    oldestWriter: row["oldest_writer"] as number,
    home: row["home"] as number
  }
}
