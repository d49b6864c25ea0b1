/**
 * The rows of a group as statements.
 *
 * All bytes of a statement travel in one binary parameter, which the server cuts by arrays of offsets and lengths: the
 * driver takes twice as long to
 * encode an array of byte strings. Whole numbers travel as the text of arrays.
 */
import type { DocumentPut, IdempotencyKey, SealedPart, StoredRecord } from "@flyball/core/storage"
import type { GroupOutbox } from "./outbox/group-outbox.ts"
import { inSchema } from "./migrations.ts"
import type { TreeNode } from "./open-tile.ts"
import { outboxQueries, outboxWrites } from "./outbox/outbox-writes.ts"
import type { Query } from "./pipeline.ts"
import { intArray, textArray } from "./sessions.ts"

/** A sealed record with what is stored beside it. */
export interface SealedRow extends StoredRecord {
  readonly parts: ReadonlyArray<SealedPart>
  readonly once: IdempotencyKey | undefined
}

/** A document as the group leaves it. */
export interface FinalPut {
  readonly put: DocumentPut
  readonly body: string
  readonly version: number
  /** True when it may have look-up keys in the database already. */
  readonly wasStored: boolean
}

/** Everything a group writes. */
export interface GroupRows {
  readonly sealed: Array<SealedRow>
  readonly nodes: ReadonlyArray<TreeNode>
  /** By collection and id. */
  readonly puts: Map<string, FinalPut>
  /** Documents of the database that go, by collection and id; one may be put again behind that. */
  readonly deleted: Map<string, { readonly collection: string; readonly id: string }>
  readonly erased: Array<{ readonly seq: number; readonly name: string; readonly erasedBy: number }>
  /**
   * Idempotency keys whose digest is erased. `upTo` is the head at that moment: a key that the group takes later keeps
   * its digest.
   */
  readonly forgotten: Array<{ readonly scope: string; readonly key: string; readonly upTo: number }>
  /** Values of counters after the group. */
  readonly counts: Map<string, number>
  readonly outbox: GroupOutbox
  /** The time of the group. */
  readonly atMs: number
}

/** Bytes of one statement's parameter, at most, unless one row alone has more. The protocol ends at 1 GiB. */
const chunkBytes = 16 * 1024 * 1024

const text = {
  records: `INSERT INTO flyball.records (seq, at_ms, kind, agent_id, hash, bytes)
    SELECT $1::int8 + n - 1, $2::int8, kind, nullif(agent, ''), substring($3::bytea
    FROM at FOR 32), substring($3::bytea FROM at + 32 FOR length)
    FROM unnest($4::text[], $5::text[], $6::int4[], $7::int4[]) WITH ORDINALITY AS r(kind, agent, at, length, n)`,
  parts: `INSERT INTO flyball.parts (seq, name, salt, bytes)
    SELECT $1::int8 + up, name, substring($2::bytea FROM at FOR 32), substring($2::bytea FROM at + 32 FOR length)
    FROM unnest($3::int4[], $4::text[], $5::int4[], $6::int4[]) AS p(up, name, at, length)`,
  once: `INSERT INTO flyball.once (scope, key, seq, digest)
    SELECT scope, key, $1::int8 + up, substring($2::bytea FROM (n * 32 - 31)::int4 FOR 32)
    FROM unnest($3::text[], $4::text[], $5::int4[]) WITH ORDINALITY AS o(scope, key, up, n)`,
  nodes: `INSERT INTO flyball.nodes (level, index, hash)
    SELECT level, index, substring($1::bytea FROM (n * 32 - 31)::int4 FOR 32)
    FROM unnest($2::int2[], $3::int8[]) WITH ORDINALITY AS t(level, index, n)`,
  documents: `INSERT INTO flyball.documents (collection, id, version, body)
    SELECT collection, id, version, body
    FROM unnest($1::text[], $2::text[], $3::int8[], $4::text[]) AS d(collection, id, version, body)
    ON CONFLICT (collection, id) DO UPDATE SET version = excluded.version, body = excluded.body`,
  deleted:
    "DELETE FROM flyball.documents d USING unnest($1::text[], $2::text[]) AS g(collection, id) WHERE " +
    "d.collection = g.collection AND d.id = g.id",
  dropKeys:
    "DELETE FROM flyball.document_keys k USING unnest($1::text[], $2::text[]) AS d(collection, id) " +
    "WHERE k.collection = d.collection AND k.id = d.id",
  keys: `INSERT INTO flyball.document_keys (collection, key, value, id, single)
    SELECT collection, key, value, id, single
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bool[]) AS k(collection, key, value, id, single)`,
  erase: `UPDATE flyball.parts p SET salt = NULL, bytes = NULL, erased_by = e.by
    FROM unnest($1::int8[], $2::text[], $3::int8[]) AS e(seq, name, by) WHERE p.seq = e.seq AND p.name = e.name
    AND p.erased_by IS NULL`,
  forget: `UPDATE flyball.once o SET digest = '' FROM unnest($1::text[], $2::text[], $3::int8[]) AS f(scope, key, up_to)
    WHERE o.scope = f.scope AND o.key = f.key AND o.seq <= f.up_to`,
  counts: `INSERT INTO flyball.counters (name, value) SELECT * FROM unnest($1::text[], $2::int8[])
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  head: "UPDATE flyball.head SET seq = $1::int8, hash = $2::bytea, at_ms = $3::int8"
}

type Texts = typeof text

/** Makes the function that turns rows into statements, for one schema. */
export const writesIn = (schema: string): ((rows: GroupRows) => ReadonlyArray<Query>) => {
  const sql = Object.fromEntries(Object.entries(text).map(([name, query]) => [name, inSchema(query, schema)])) as Texts
  const outbox = Object.fromEntries(
    Object.entries(outboxWrites).map(([name, query]) => [name, inSchema(query, schema)])
  ) as typeof outboxWrites
  return (rows) => [
    ...chunks(rows.sealed, ({ bytes }) => bytes.length).map((sealed) => records(sql, sealed)),
    ...parts(sql, rows.sealed),
    ...once(sql, rows.sealed),
    ...nodes(sql, rows.nodes),
    ...deleted(sql, [...rows.deleted.values()]),
    ...documents(sql, [...rows.puts.values()]),
    ...erased(sql, rows),
    ...forgotten(sql, rows),
    ...counted(sql, rows),
    ...outboxQueries(outbox, rows.outbox, rows.atMs),
    ...head(sql, rows.sealed.at(-1))
  ]
}

/** Hash and bytes of each record, one after the other. Offsets count from 1. */
const records = (sql: Texts, sealed: ReadonlyArray<SealedRow>): Query => {
  const at: Array<number> = []
  const length: Array<number> = []
  let end = 1
  for (const { bytes } of sealed) {
    at.push(end)
    length.push(bytes.length)
    end += 32 + bytes.length
  }
  const { seq, atMs } = sealed[0]!
  const blob = Buffer.concat(
    sealed.flatMap(({ hash, bytes }) => [hash, bytes]),
    end - 1
  )
  const kinds = sealed.map(({ kind }) => kind)
  const agents = sealed.map(({ agentId }) => agentId ?? "")
  return {
    sql: sql.records,
    params: [String(seq), String(atMs), blob, textArray(kinds), textArray(agents), intArray(at), intArray(length)]
  }
}

/** Salt and bytes of each part, one after the other. */
const parts = (sql: Texts, sealed: ReadonlyArray<SealedRow>): ReadonlyArray<Query> => {
  const first = sealed[0]?.seq ?? 0
  const all = sealed.flatMap(({ parts: own, seq }) => own.map((part) => ({ up: seq - first, ...part })))
  return chunks(all, ({ bytes }) => bytes.length).map((some) => {
    const at: Array<number> = []
    let end = 1
    for (const { bytes } of some) {
      at.push(end)
      end += 32 + bytes.length
    }
    const blob = Buffer.concat(
      some.flatMap(({ salt, bytes }) => [salt, bytes]),
      end - 1
    )
    const lengths = some.map(({ bytes }) => bytes.length)
    return {
      sql: sql.parts,
      params: [
        String(first),
        blob,
        intArray(some.map(({ up }) => up)),
        some.map(({ name }) => name),
        intArray(at),
        intArray(lengths)
      ]
    }
  })
}

const once = (sql: Texts, sealed: ReadonlyArray<SealedRow>): ReadonlyArray<Query> => {
  const first = sealed[0]?.seq ?? 0
  const all = sealed.flatMap(({ once: taken, seq }) => (taken === undefined ? [] : [{ up: seq - first, ...taken }]))
  if (all.length === 0) return []
  const blob = Buffer.concat(all.map(({ digest }) => Buffer.from(digest, "hex")))
  return [
    {
      sql: sql.once,
      params: [
        String(first),
        blob,
        all.map(({ scope }) => scope),
        all.map(({ key }) => key),
        intArray(all.map(({ up }) => up))
      ]
    }
  ]
}

const nodes = (sql: Texts, made: ReadonlyArray<TreeNode>): ReadonlyArray<Query> =>
  made.length === 0
    ? []
    : [
        {
          sql: sql.nodes,
          params: [
            Buffer.concat(made.map(({ hash }) => hash)),
            intArray(made.map(({ level }) => level)),
            intArray(made.map(({ index }) => index))
          ]
        }
      ]

const deleted = (
  sql: Texts,
  gone: ReadonlyArray<{ readonly collection: string; readonly id: string }>
): ReadonlyArray<Query> => {
  if (gone.length === 0) return []
  const params = [gone.map(({ collection }) => collection), gone.map(({ id }) => id)]
  return [
    { sql: sql.dropKeys, params },
    { sql: sql.deleted, params }
  ]
}

const documents = (sql: Texts, puts: ReadonlyArray<FinalPut>): ReadonlyArray<Query> => {
  if (puts.length === 0) return []
  const collections = puts.map(({ put }) => put.collection)
  const ids = puts.map(({ put }) => put.id)
  const out: Array<Query> = [
    {
      sql: sql.documents,
      params: [collections, ids, intArray(puts.map(({ version }) => version)), puts.map(({ body }) => body)]
    }
  ]
  const stored = puts.filter(({ wasStored }) => wasStored)
  if (stored.length > 0)
    out.push({ sql: sql.dropKeys, params: [stored.map(({ put }) => put.collection), stored.map(({ put }) => put.id)] })
  const keys = puts.flatMap(({ put }) => [...keyRows(put, put.keys, false), ...keyRows(put, put.unique, true)])
  if (keys.length > 0) {
    const column = <K extends keyof KeyRow>(name: K): ReadonlyArray<KeyRow[K]> => keys.map((row) => row[name])
    out.push({
      sql: sql.keys,
      params: [column("collection"), column("key"), column("value"), column("id"), column("single")]
    })
  }
  return out
}

type KeyRow = {
  readonly collection: string
  readonly key: string
  readonly value: string
  readonly id: string
  readonly single: boolean
}

const keyRows = (
  { collection, id }: DocumentPut,
  keys: { readonly [key: string]: string } | undefined,
  single: boolean
): ReadonlyArray<KeyRow> => Object.entries(keys ?? {}).map(([key, value]) => ({ collection, key, value, id, single }))

const erased = (sql: Texts, { erased: all }: GroupRows): ReadonlyArray<Query> =>
  all.length === 0
    ? []
    : [
        {
          sql: sql.erase,
          params: [
            intArray(all.map(({ seq }) => seq)),
            all.map(({ name }) => name),
            intArray(all.map(({ erasedBy }) => erasedBy))
          ]
        }
      ]

const forgotten = (sql: Texts, { forgotten: all }: GroupRows): ReadonlyArray<Query> =>
  all.length === 0
    ? []
    : [
        {
          sql: sql.forget,
          params: [all.map(({ scope }) => scope), all.map(({ key }) => key), intArray(all.map(({ upTo }) => upTo))]
        }
      ]

const counted = (sql: Texts, { counts }: GroupRows): ReadonlyArray<Query> =>
  counts.size === 0 ? [] : [{ sql: sql.counts, params: [[...counts.keys()], intArray([...counts.values()])] }]

const head = (sql: Texts, last: SealedRow | undefined): ReadonlyArray<Query> =>
  last === undefined ? [] : [{ sql: sql.head, params: [String(last.seq), last.hash, String(last.atMs)] }]

/** Cuts rows into runs of bounded size. */
const chunks = <A>(rows: ReadonlyArray<A>, size: (row: A) => number): ReadonlyArray<ReadonlyArray<A>> => {
  const out: Array<Array<A>> = []
  let bytes = 0
  for (const row of rows) {
    if (out.length === 0 || bytes + size(row) > chunkBytes) {
      out.push([])
      bytes = 0
    }
    out.at(-1)!.push(row)
    bytes += size(row)
  }
  return out
}
