/** Reading all rows of a Postgres store, page by page, as they are in one snapshot. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inSchema } from "../postgres/migrations.ts"
import type { Row } from "../postgres/sessions.ts"
import type { Page, TableName, Tables } from "./rows.ts"
import { maxPageBytes, maxPageRows, tableNames } from "./rows.ts"

/** How one table is walked along its primary key. */
interface Walk<T extends TableName> {
  readonly from: string
  readonly columns: string
  /** Key columns with their types, in the key's order. */
  readonly key: ReadonlyArray<readonly [column: string, type: string]>
  /** SQL expression for the size of a row. The length of a value is known without reading it. */
  readonly bytes?: string
  readonly row: (row: Row) => Tables[T]
}

const walks: { readonly [T in TableName]: Walk<T> } = {
  records: {
    from: "flyball.records",
    columns: "seq::float8 AS seq, at_ms::float8 AS at_ms, kind, agent_id, hash, bytes",
    key: [["seq", "int8"]],
    bytes: "octet_length(bytes)",
    row: (row) => ({
      seq: row["seq"] as number,
      atMs: row["at_ms"] as number,
      kind: row["kind"] as string,
      agentId: row["agent_id"] as string | null,
      hash: row["hash"] as Uint8Array,
      bytes: row["bytes"] as Uint8Array
    })
  },
  parts: {
    from: "flyball.parts",
    columns: "seq::float8 AS seq, name, salt, bytes, erased_by::float8 AS erased_by",
    key: [
      ["seq", "int8"],
      ["name", "text"]
    ],
    bytes: "coalesce(octet_length(bytes), 0)",
    row: (row) => ({
      seq: row["seq"] as number,
      name: row["name"] as string,
      salt: row["salt"] as Uint8Array | null,
      bytes: row["bytes"] as Uint8Array | null,
      erasedBy: row["erased_by"] as number | null
    })
  },
  once: {
    from: "flyball.once",
    columns: "scope, key, seq::float8 AS seq, digest",
    key: [
      ["scope", "text"],
      ["key", "text"]
    ],
    row: (row) => ({
      scope: row["scope"] as string,
      key: row["key"] as string,
      seq: row["seq"] as number,
      digest: row["digest"] as Uint8Array
    })
  },
  nodes: {
    from: "flyball.nodes",
    columns: "level::int4 AS level, index::float8 AS index, hash",
    key: [
      ["level", "int2"],
      ["index", "int8"]
    ],
    row: (row) => ({ level: row["level"] as number, index: row["index"] as number, hash: row["hash"] as Uint8Array })
  },
  documents: {
    from: "flyball.documents",
    columns: "collection, id, version::float8 AS version, body",
    key: [
      ["collection", "text"],
      ["id", "text"]
    ],
    bytes: "octet_length(body)",
    row: (row) => ({
      collection: row["collection"] as string,
      id: row["id"] as string,
      version: row["version"] as number,
      body: row["body"] as string
    })
  },
  documentKeys: {
    from: "flyball.document_keys",
    columns: "collection, key, value, id, single",
    key: [
      ["collection", "text"],
      ["key", "text"],
      ["value", "text"],
      ["id", "text"]
    ],
    row: (row) => ({
      collection: row["collection"] as string,
      key: row["key"] as string,
      value: row["value"] as string,
      id: row["id"] as string,
      single: row["single"] as boolean
    })
  },
  events: {
    from: "flyball.events",
    columns: "id, type, at_ms::float8 AS at_ms, seq::float8 AS seq, hash, data, owner",
    key: [["id", "text"]],
    bytes: "octet_length(data)",
    row: (row) => ({
      id: row["id"] as string,
      type: row["type"] as string,
      atMs: row["at_ms"] as number,
      seq: row["seq"] as number,
      hash: row["hash"] as Uint8Array,
      data: row["data"] as string,
      owner: row["owner"] as string | null
    })
  },
  deliveries: {
    // What is in flight says so in a table of its own.
    from: `(SELECT d.id, d.event_id, d.endpoint_id, d.sequence,
      CASE WHEN f.attempt IS NULL THEN d.state ELSE 1 END AS state, coalesce(f.attempt, d.attempts) AS attempts,
      d.created_at_ms,
      CASE WHEN f.attempt IS NULL THEN d.next_at_ms END AS next_at_ms, f.lease_until_ms, d.finished_at_ms
      FROM flyball.deliveries d LEFT JOIN flyball.in_flight f ON f.endpoint_id = d.endpoint_id
      AND f.sequence = d.sequence) w`,
    columns: `id, event_id, endpoint_id, sequence::float8 AS sequence, state::int4 AS state, attempts,
      created_at_ms::float8 AS created_at_ms, next_at_ms::float8 AS next_at_ms,
      lease_until_ms::float8 AS lease_until_ms, finished_at_ms::float8 AS finished_at_ms`,
    key: [["id", "text"]],
    row: (row) => ({
      id: row["id"] as string,
      eventId: row["event_id"] as string,
      endpointId: row["endpoint_id"] as string,
      sequence: row["sequence"] as number,
      state: row["state"] as number,
      attempts: row["attempts"] as number,
      createdAtMs: row["created_at_ms"] as number,
      nextAttemptAtMs: row["next_at_ms"] as number | null,
      leaseUntilMs: row["lease_until_ms"] as number | null,
      finishedAtMs: row["finished_at_ms"] as number | null
    })
  },
  attempts: {
    from: `(SELECT delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt
      FROM flyball.attempts
      UNION ALL SELECT delivery_id, attempt, started_at_ms, NULL, NULL, NULL,
      CASE WHEN answer_forgotten THEN 'null' ELSE '""' END FROM flyball.in_flight) a`,
    columns:
      "delivery_id, attempt, started_at_ms::float8 AS started_at_ms, ended_at_ms::float8 AS ended_at_ms, " +
      "status_code, error_code, excerpt",
    key: [
      ["delivery_id", "text"],
      ["attempt", "int4"]
    ],
    bytes: "octet_length(excerpt)",
    row: (row) => ({
      deliveryId: row["delivery_id"] as string,
      attempt: row["attempt"] as number,
      startedAtMs: row["started_at_ms"] as number,
      endedAtMs: row["ended_at_ms"] as number | null,
      statusCode: row["status_code"] as number | null,
      errorCode: row["error_code"] as string | null,
      excerpt: row["excerpt"] as string
    })
  },
  counters: {
    from: "flyball.counters",
    columns: "name, value::float8 AS value",
    key: [["name", "text"]],
    row: (row) => ({ name: row["name"] as string, value: row["value"] as number })
  },
  sequences: {
    from: "flyball.sequences",
    columns: "endpoint_id, sequence::float8 AS sequence",
    key: [["endpoint_id", "text"]],
    row: (row) => ({ endpointId: row["endpoint_id"] as string, sequence: row["sequence"] as number })
  }
}

/**
 * Hands every row to `take`, page by page. The connection is in a REPEATABLE READ transaction, so that all tables are
 * of one moment.
 *
 * Along the primary key, and not by a cursor: a page ends at a weight as well as at a number of rows.
 */
export const eachPostgresPage = Effect.fnUntraced(function* <E>(
  connection: PgConnection,
  schema: string,
  take: (page: Page) => Effect.Effect<void, E>
): Effect.fn.Return<void, SqlError | E> {
  for (const table of tableNames) yield* eachPage(connection, schema, table, take)
})

const eachPage = Effect.fnUntraced(function* <T extends TableName, E>(
  connection: PgConnection,
  schema: string,
  table: T,
  take: (page: Page) => Effect.Effect<void, E>
) {
  const walk: Walk<T> = walks[table]
  const first = inSchema(pageSql(walk, false), schema)
  const later = inSchema(pageSql(walk, true), schema)
  for (let after: ReadonlyArray<string> | null = null; ;) {
    const { rows }: { readonly rows: ReadonlyArray<Row> } = yield* connection.query(
      after === null ? first : later,
      after ?? []
    )
    const last = rows.at(-1)
    if (last === undefined) return
    yield* take({ table, rows: rows.map(walk.row) } as unknown as Page)
    after = walk.key.map(([column]) => String(last[column]))
  }
})

/** A page: at most so many rows behind the last one, cut where what is before a row reaches the weight. */
const pageSql = ({ bytes, columns, from, key }: Walk<TableName>, after: boolean): string => {
  const names = key.map(([column]) => column).join(", ")
  const behind = after ? `WHERE (${names}) > (${key.map(([, type], n) => `$${n + 1}::${type}`).join(", ")})` : ""
  const slice = `SELECT * FROM ${from} ${behind} ORDER BY ${names} LIMIT ${maxPageRows}`
  if (bytes === undefined) return `SELECT ${columns} FROM (${slice}) s ORDER BY ${qualified(names)}`
  return (
    `SELECT ${columns} FROM (SELECT s.*, sum(${bytes}) OVER (ORDER BY ${names}) - ${bytes} AS before FROM ` +
    `(${slice}) s) s WHERE before < ${maxPageBytes} ORDER BY ${qualified(names)}`
  )
}

/** The columns themselves and not what the select list makes of them under the same names. */
const qualified = (names: string): string =>
  names
    .split(", ")
    .map((name) => `s.${name}`)
    .join(", ")
