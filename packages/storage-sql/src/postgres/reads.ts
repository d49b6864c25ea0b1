/** The reads of the port. Each is one statement, so none ever sees half a group. */
import type {
  DocumentText,
  Head,
  OutboxApi,
  ReadFault,
  StorageApi,
  StoredPart,
  StoredRecord,
  TakenKey
} from "@flyball/core/storage"
import {
  isStorable,
  limitProblem,
  LIST_UNITS,
  listDocuments,
  namedProblem,
  plannedTimeMs,
  queryProblem,
  rangeProblem,
  readDocuments,
  StorageCorrupt
} from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { chainReplaced, readLockedHead } from "./lookups.ts"
import { inSchema } from "./migrations.ts"
import { outboxReadsOf } from "./outbox/outbox-reads.ts"
import { documentColumns, rangeQuery, recordColumns, recordsQuery } from "./page-queries.ts"
import { faultOf, isLost } from "./postgres-fault.ts"
import { inRealTime } from "./real-time.ts"
import type { Connections, Row } from "./sessions.ts"
import { intArray, query } from "./sessions.ts"

const text = {
  head:
    "SELECT seq::float8 AS seq, hash, at_ms::float8 AS at_ms, oldest_writer, tableoid::int8::float8 AS " +
    "home, flyball.flyball_now()::float8 AS now_ms FROM flyball.head",
  get: `SELECT ${documentColumns} FROM flyball.documents d WHERE d.collection = $1::text AND d.id = $2::text`,
  find: `SELECT ${documentColumns} FROM flyball.document_keys k JOIN flyball.documents d
    ON d.collection = k.collection AND d.id = k.id
    WHERE k.collection = $1::text AND k.key = $2::text AND k.value = $3::text ORDER BY k.id`,
  // How long a body is stands beside it: none is read that is not answered.
  list: `SELECT ${documentColumns}, d.upto::float8 AS upto
    FROM (SELECT *, sum(octet_length(body)) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS upto FROM flyball.documents
    WHERE collection = $1::text AND id > $2::text ORDER BY id LIMIT $3::int8) d
    WHERE d.upto - octet_length(d.body) < ${LIST_UNITS} ORDER BY d.id`,
  record: `SELECT ${recordColumns} FROM flyball.records WHERE seq = $1::int8`,
  parts:
    "SELECT seq::float8 AS seq, name, salt, bytes, erased_by::float8 AS erased_by FROM flyball.parts WHERE seq " +
    "= ANY ($1::int8[]) ORDER BY seq, name",
  once: `SELECT k.key, o.seq::float8 AS seq, o.digest FROM unnest($2::text[]) WITH ORDINALITY AS k(key, n)
    JOIN flyball.once o ON o.scope = $1::text AND o.key = k.key ORDER BY k.n`,
  idempotencyKeys: `SELECT scope, key, seq::float8 AS seq, digest FROM flyball.once
    WHERE (scope, key) > ($1::text, $2::text) ORDER BY scope, key LIMIT $3::int8`,
  counters: `SELECT coalesce(c.value, 0)::float8 AS value FROM unnest($1::text[]) WITH ORDINALITY AS k(name, n)
    LEFT JOIN flyball.counters c ON c.name = k.name ORDER BY k.n`,
  leaves:
    "SELECT string_agg(hash, ''::bytea ORDER BY seq) AS hashes FROM flyball.records WHERE seq >= $1::int8 AND " +
    "seq < $2::int8",
  nodes:
    "SELECT string_agg(hash, ''::bytea ORDER BY index) AS hashes FROM flyball.nodes WHERE level = $3::int2 AND " +
    "index >= $1::int8 AND index < $2::int8"
}

type Reads = Pick<
  StorageApi,
  | "asOf"
  | "head"
  | "get"
  | "find"
  | "range"
  | "list"
  | "record"
  | "records"
  | "parts"
  | "once"
  | "idempotencyKeys"
  | "hashes"
  | "counters"
> & { readonly outbox: Omit<OutboxApi, "claim" | "missed" | "forget"> }

/** Makes the reads for one schema, of the store whose head is the table `home`. */
export const readsIn = (readers: Connections, schema: string, home: number): Reads => {
  const ask = (sql: string, params: ReadonlyArray<unknown> = []): Effect.Effect<ReadonlyArray<Row>, ReadFault> =>
    inRealTime(
      query(readers, inSchema(sql, schema), params).pipe(
        // A session that died while it was idle may be noticed only now; a read costs nothing to ask again.
        Effect.retry({ times: 1, while: isLost })
      )
    ).pipe(Effect.mapError((error) => faultOf(error)))
  const locked = Effect.flatMap(ask(text.head), (rows) => decode(() => readLockedHead(rows))).pipe(
    Effect.filterOrFail((found) => found.home === home, chainReplaced)
  )
  const documents = (rows: ReadonlyArray<Row>) => decoded(readDocuments(rows.map(documentText)))

  return {
    asOf: Effect.map(locked, ({ head, nowMs }) => ({ ms: plannedTimeMs(nowMs, head), seq: head?.seq ?? -1 })),
    head: Effect.map(locked, ({ head }): Head | null => head),
    get: Effect.fnUntraced(function* (collection, id) {
      if (!isStorable(collection) || !isStorable(id)) return null
      return (yield* documents(yield* ask(text.get, [collection, id])))[0] ?? null
    }),
    find: Effect.fnUntraced(function* (collection, key, value) {
      if (![collection, key, value].every(isStorable)) return []
      return yield* documents(yield* ask(text.find, [collection, key, value]))
    }),
    range: Effect.fnUntraced(function* (collection, key, range) {
      invariant(rangeProblem(range))
      if (![collection, key].every(isStorable)) return []
      const { params, sql } = rangeQuery(collection, key, range)
      return yield* documents(yield* ask(sql, params))
    }),
    list: Effect.fnUntraced(function* (collection, page) {
      if (!isStorable(collection)) return []
      return yield* decoded(
        listDocuments(page, (after, limit) =>
          Effect.map(
            ask(text.list, [collection, storablePrefix(after), limit === null ? null : String(limit)]),
            (rows) => ({ rows: rows.map(documentText), isCut: Number(rows.at(-1)?.["upto"] ?? 0) >= LIST_UNITS })
          )
        )
      )
    }),
    record: Effect.fnUntraced(function* (seq) {
      if (!Number.isSafeInteger(seq)) return null
      const row = (yield* ask(text.record, [String(seq)]))[0]
      return row === undefined ? null : recordOf(row)
    }),
    records: Effect.fnUntraced(function* (page) {
      invariant(queryProblem(page))
      const { sql, params } = recordsQuery(page)
      return (yield* ask(sql, params)).map(recordOf)
    }),
    parts: Effect.fnUntraced(function* (seqs) {
      invariant(namedProblem("records", seqs))
      return (yield* ask(text.parts, [intArray([...new Set(seqs)].filter(Number.isSafeInteger))])).map(partOf)
    }),
    once: Effect.fnUntraced(function* (scope, keys) {
      const requested = [...new Set(keys)].filter(isStorable)
      if (!isStorable(scope) || requested.length === 0) return []
      const rows = yield* ask(text.once, [scope, requested])
      return rows.map(onceOf)
    }),
    idempotencyKeys: Effect.fnUntraced(function* (after, limit) {
      invariant(limitProblem(limit))
      // No key is empty, so that this is before all of them.
      const { key, scope } = after ?? { key: "", scope: "" }
      const rows = yield* ask(text.idempotencyKeys, [scope, key, String(limit)])
      return rows.map((row) => ({ scope: row["scope"] as string, ...onceOf(row) }))
    }),
    counters: Effect.fnUntraced(function* (names) {
      invariant(namedProblem("counters", names))
      const rows = yield* ask(text.counters, [names])
      return rows.map((row) => row["value"] as number)
    }),
    hashes: Effect.fnUntraced(function* (tileLevel, from, count) {
      const range = [String(from), String(from + count)]
      const rows = yield* tileLevel === 0 ? ask(text.leaves, range) : ask(text.nodes, [...range, String(tileLevel)])
      return (rows[0]?.["hashes"] as Uint8Array | null) ?? new Uint8Array(0)
    }),
    outbox: outboxReadsOf(ask)
  }
}

/**
 * Cuts a cursor before the first character that no stored id contains, since it cannot be bound either; the same ids
 * follow the shorter text.
 */
export const storablePrefix = (after: string): string => {
  if (isStorable(after)) return after
  const bad = /\0|\p{Surrogate}/u.exec(after)?.index ?? after.length
  return after.slice(0, bad)
}

const documentText = (row: Row): DocumentText => ({
  collection: row["collection"] as string,
  id: row["id"] as string,
  version: row["version"] as number,
  body: row["body"] as string
})

const recordOf = (row: Row): StoredRecord => ({
  seq: row["seq"] as number,
  bytes: row["bytes"] as Uint8Array,
  hash: row["hash"] as Uint8Array,
  kind: row["kind"] as string,
  agentId: row["agent_id"] as string | null,
  atMs: row["at_ms"] as number
})

const onceOf = (row: Row): Omit<TakenKey, "scope"> => {
  const digest = row["digest"] as Uint8Array
  return { key: row["key"] as string, seq: row["seq"] as number, digest: digest.length === 0 ? null : toHex(digest) }
}

const partOf = (row: Row): StoredPart => {
  const seq = row["seq"] as number
  const name = row["name"] as string
  const erasedBy = row["erased_by"] as number | null
  return erasedBy === null
    ? { seq, name, salt: row["salt"] as Uint8Array, bytes: row["bytes"] as Uint8Array, erasedBy }
    : { seq, name, salt: null, bytes: null, erasedBy }
}

/** Dies with the sentence, if there is one. */
export const invariant = (problem: string | null): void => {
  if (problem !== null) throw new Error(problem)
}

/** Runs a decoder; what cannot be decoded was not written by us. */
export const decode = <A>(run: () => A): Effect.Effect<A, StorageCorrupt> => Effect.try({ try: run, catch: notOurs })

/** As {@link decode}, of a decoder that takes several turns. */
const decoded = <A, E>(reading: Effect.Effect<A, E>): Effect.Effect<A, E | StorageCorrupt> =>
  Effect.catchDefect(reading, (cause) => Effect.fail(notOurs(cause)))

const notOurs = (cause: unknown): StorageCorrupt =>
  cause instanceof StorageCorrupt
    ? cause
    : new StorageCorrupt({ reason: "a row of the database holds what this store never writes" })
