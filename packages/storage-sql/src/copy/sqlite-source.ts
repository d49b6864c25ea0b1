/** Reading all rows of a SQLite store, page by page. */
import type { DatabaseSync } from "node:sqlite"
import { partsPerRecord } from "../sqlite/layout.ts"
import { StoreDamaged } from "../sqlite/sqlite-fault.ts"
import { StringTable } from "../sqlite/string-table.ts"
import type { Page, TableName, Tables } from "./rows.ts"
import { maxPageBytes, maxPageRows, tableNames } from "./rows.ts"

const hashBytes = 32

type Columns = { readonly [column: string]: unknown }

/** Yields every row of the database. Nobody may write to it meanwhile, or the caller holds a read transaction. */
export function* sqlitePages(db: DatabaseSync): Generator<Page> {
  const readers = readersOf(db, new StringTable(db))
  for (const table of tableNames) yield* pagesOf(table, readers[table]())
}

/** Cuts rows into pages by their number and by their bytes. */
function* pagesOf<T extends TableName>(table: T, rows: Iterable<Tables[T]>): Generator<Page> {
  let page: Array<Tables[T]> = []
  let bytes = 0
  for (const row of rows) {
    page.push(row)
    bytes += bytesOf(row)
    if (page.length < maxPageRows && bytes < maxPageBytes) continue
    yield { table, rows: page } as unknown as Page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield { table, rows: page } as unknown as Page
}

const bytesOf = (row: Tables[TableName]): number => {
  const large =
    "bytes" in row
      ? row.bytes
      : "body" in row
        ? row.body
        : "data" in row
          ? row.data
          : "excerpt" in row
            ? row.excerpt
            : null
  return large?.length ?? 0
}

type Readers = { readonly [T in TableName]: () => Iterable<Tables[T]> }

const readersOf = (db: DatabaseSync, strings: StringTable): Readers => {
  const select = (sql: string): Iterable<Columns> => db.prepare(sql).iterate()
  const word = (value: unknown): string => strings.text(value as number)
  return {
    records: () =>
      mapped(select("SELECT seq, kind, agent, at_ms, hash, bytes FROM record ORDER BY seq"), (row) => ({
        seq: row["seq"] as number,
        atMs: row["at_ms"] as number,
        kind: word(row["kind"]),
        agentId: row["agent"] === null ? null : word(row["agent"]),
        hash: row["hash"] as Uint8Array,
        bytes: row["bytes"] as Uint8Array
      })),
    parts: () =>
      mapped(select("SELECT id, name, salt, bytes, erased_by FROM part ORDER BY id"), (row) => ({
        seq: Math.floor((row["id"] as number) / partsPerRecord),
        name: word(row["name"]),
        salt: row["salt"] as Uint8Array | null,
        bytes: row["bytes"] as Uint8Array | null,
        erasedBy: row["erased_by"] as number | null
      })),
    once: () =>
      mapped(select("SELECT scope, key, seq, digest FROM once ORDER BY scope, key"), (row) => ({
        scope: word(row["scope"]),
        key: row["key"] as string,
        seq: row["seq"] as number,
        digest: row["digest"] as Uint8Array
      })),
    nodes: () => nodes(select("SELECT level, idx, hashes FROM tile WHERE level > 0 ORDER BY level, idx")),
    documents: () =>
      mapped(select("SELECT collection, id, version, body FROM document ORDER BY collection, id"), (row) => ({
        collection: word(row["collection"]),
        id: row["id"] as string,
        version: row["version"] as number,
        body: row["body"] as string
      })),
    documentKeys: () =>
      mapped(
        select(
          "SELECT k.collection, k.name, k.value, d.id, k.single FROM document_key k JOIN document d ON d.doc = " +
            "k.doc ORDER BY k.collection, k.name, k.value, d.id"
        ),
        (row) => ({
          collection: word(row["collection"]),
          key: word(row["name"]),
          value: row["value"] as string,
          id: row["id"] as string,
          single: row["single"] === 1
        })
      ),
    counters: () =>
      mapped(select("SELECT name, value FROM counter ORDER BY name"), (row) => ({
        name: row["name"] as string,
        value: row["value"] as number
      })),
    ...outboxReaders(select, word)
  }
}

const outboxReaders = (
  select: (sql: string) => Iterable<Columns>,
  word: (value: unknown) => string
): Pick<Readers, "events" | "deliveries" | "attempts" | "sequences"> => ({
  events: () =>
    mapped(select("SELECT id, type, at_ms, seq, hash, data, owner FROM event ORDER BY n"), (row) => ({
      id: row["id"] as string,
      type: word(row["type"]),
      atMs: row["at_ms"] as number,
      seq: row["seq"] as number,
      hash: row["hash"] as Uint8Array,
      data: row["data"] as string,
      owner: row["owner"] === null ? null : word(row["owner"])
    })),
  deliveries: () =>
    mapped(
      select(`SELECT d.id, e.id AS event_id, d.endpoint, d.sequence, d.state, d.attempts, d.created_at_ms,
        d.next_at_ms, d.lease_until_ms, d.finished_at_ms
      FROM delivery d JOIN event e ON e.n = d.event ORDER BY d.n`),
      (row) => ({
        id: row["id"] as string,
        eventId: row["event_id"] as string,
        endpointId: word(row["endpoint"]),
        sequence: row["sequence"] as number,
        state: row["state"] as number,
        attempts: row["attempts"] as number,
        createdAtMs: row["created_at_ms"] as number,
        nextAttemptAtMs: row["next_at_ms"] as number | null,
        leaseUntilMs: row["lease_until_ms"] as number | null,
        finishedAtMs: row["finished_at_ms"] as number | null
      })
    ),
  attempts: () =>
    mapped(
      select(`SELECT d.id, a.attempt, a.started_at_ms, a.ended_at_ms, a.status_code, a.error_code, a.excerpt
      FROM attempt a JOIN delivery d ON d.n = a.delivery ORDER BY a.delivery, a.attempt`),
      (row) => ({
        deliveryId: row["id"] as string,
        attempt: row["attempt"] as number,
        startedAtMs: row["started_at_ms"] as number,
        endedAtMs: row["ended_at_ms"] as number | null,
        statusCode: row["status_code"] as number | null,
        errorCode: row["error_code"] as string | null,
        excerpt: row["excerpt"] as string
      })
    ),
  sequences: () =>
    mapped(select("SELECT endpoint, sequence FROM lane ORDER BY endpoint"), (row) => ({
      endpointId: word(row["endpoint"]),
      sequence: row["sequence"] as number
    }))
})

function* mapped<A>(rows: Iterable<Columns>, map: (row: Columns) => A): Generator<A> {
  for (const row of rows) yield map(row)
}

/** A tile holds up to 256 node hashes, joined. */
function* nodes(tiles: Iterable<Columns>): Generator<Tables["nodes"]> {
  for (const row of tiles) {
    const level = row["level"] as number
    const tile = row["idx"] as number
    const hashes = row["hashes"] as Uint8Array
    if (hashes.length % hashBytes !== 0)
      throw new StoreDamaged(`tile ${tile} of level ${level} has ${hashes.length} bytes`)
    for (let n = 0; n * hashBytes < hashes.length; n++)
      yield { level, index: tile * 256 + n, hash: hashes.slice(n * hashBytes, (n + 1) * hashBytes) }
  }
}
