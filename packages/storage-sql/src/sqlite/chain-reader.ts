/**
 * Every read of a SQLite store. Each is one statement or one page: no read transaction lives long enough to hold the
 * WAL back.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import type { Head, KeyRange, RecordQuery } from "@flyball/core/storage"
import { counterValue } from "./counters.ts"
import { partsPerRecord } from "./layout.ts"
import type { DocumentRow, IdempotencyRow } from "./thread/protocol.ts"
import type { PartRows, PartRow, RecordRows, RecordRow } from "./rows.ts"
import { StoreDamaged } from "./sqlite-fault.ts"
import { StringTable } from "./string-table.ts"

/** Records of one slice of a search by kind: what is read before other requests get their turn. */
const sliceRecords = 20_000
/** Kinds 1 and 2 fill the chain; all others are in the indexes by kind. Spec: migrations. */
const lastCommonKind = 2
const tileHashes = 256
const hashBytes = 32
const lastSeq = Number.MAX_SAFE_INTEGER

type Row = Record<string, unknown>

/** Reads one open database. */
export class ChainReader {
  readonly #db: DatabaseSync
  readonly #strings: StringTable
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#strings = new StringTable(db)
  }

  /** Statements are prepared at first use and kept: there are few different ones. */
  #sql(text: string, rows: "objects" | "arrays" = "objects"): StatementSync {
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      this.#statements.set(text, (statement = this.#db.prepare(text)))
      statement.setReturnArrays(rows === "arrays")
    }
    return statement
  }

  head(): Head | null {
    const row = this.#sql("SELECT seq, hash, at_ms FROM record ORDER BY seq DESC LIMIT 1").get() as Row | undefined
    return row === undefined
      ? null
      : { seq: row["seq"] as number, hash: row["hash"] as Uint8Array, atMs: row["at_ms"] as number }
  }

  get(collection: string, id: string): DocumentRow | null {
    const row = this.#sql("SELECT version, body FROM document WHERE collection = ? AND id = ?").get(
      this.#strings.find(collection),
      id
    )
    return row === undefined ? null : { collection, id, version: row["version"] as number, body: row["body"] as string }
  }

  find(collection: string, key: string, value: string): ReadonlyArray<DocumentRow> {
    const rows = this.#sql(
      `SELECT d.id, d.version, d.body FROM document_key k JOIN document d ON d.doc = k.doc
       WHERE k.collection = ? AND k.name = ? AND k.value = ? ORDER BY d.id`
    ).all(this.#strings.find(collection), this.#strings.find(key), value)
    return rows.map((row) => documentOf(collection, row))
  }

  /** Documents in the order of a look-up key: the index of keys is walked from where the range begins. */
  range(collection: string, key: string, { after, before, limit, order }: KeyRange): ReadonlyArray<DocumentRow> {
    const bounds = `${after === undefined ? "" : "AND k.value > ?"} ${before === undefined ? "" : "AND k.value < ?"}`
    const direction = order === "desc" ? "DESC" : "ASC"
    const rows = this.#sql(
      `SELECT d.id, d.version, d.body FROM document_key k JOIN document d ON d.doc = k.doc
       WHERE k.collection = ? AND k.name = ? ${bounds} ORDER BY k.value ${direction}, d.id ${direction} LIMIT ?`
    ).all(
      this.#strings.find(collection),
      this.#strings.find(key),
      ...[after, before].filter((bound) => bound !== undefined),
      limit
    )
    return rows.map((row) => documentOf(collection, row))
  }

  /** At most `limit` documents, and no more once they are `units` long together. */
  list(collection: string, after: string, limit: number | null, units: number): ReadonlyArray<DocumentRow> {
    const found: Array<DocumentRow> = []
    let taken = 0
    for (const row of this.#sql(
      "SELECT id, version, body FROM document WHERE collection = ? AND id > ? ORDER BY id LIMIT ?"
    ).iterate(this.#strings.find(collection), after, limit ?? -1)) {
      const document = documentOf(collection, row)
      found.push(document)
      taken += document.body.length
      if (taken >= units) break
    }
    return found
  }

  /**
   * A page of records, found in slices: after each the generator yields, so that a search for a rare kind in a long
   * chain
   * does not keep other readers waiting.
   */
  *records(query: RecordQuery): Generator<undefined, RecordRows> {
    const agent = query.agentId === undefined ? null : this.#strings.find(query.agentId)
    const kinds = query.kinds?.flatMap((kind) => this.#strings.find(kind) ?? [])
    if ((query.agentId !== undefined && agent === null) || kinds?.length === 0)
      return { rows: [], word: (id) => this.#strings.text(id) }
    const first = Math.max(query.from ?? 0, 0)
    const last = Math.min(query.to ?? lastSeq, this.head()?.seq ?? -1)
    const descending = query.order === "desc"
    if (kinds?.every((kind) => kind > lastCommonKind))
      return { rows: this.#ofKinds(kinds, agent, first, last, query), word: (id) => this.#strings.text(id) }
    const width = kinds === undefined ? last - first + 1 : sliceRecords
    const statement = this.#sql(pageSql(agent !== null, kinds?.length ?? 0, descending), "arrays")
    const rows: Array<RecordRow> = []
    for (let done = 0; done <= last - first && rows.length < query.limit; done += width) {
      if (done > 0) yield
      const from = descending ? Math.max(last - done - width + 1, first) : first + done
      const to = descending ? last - done : Math.min(first + done + width - 1, last)
      const values: Array<SQLInputValue> = [
        from,
        to,
        ...(agent === null ? [] : [agent]),
        ...(kinds ?? []),
        query.limit - rows.length
      ]
      rows.push(...(statement.all(...values) as unknown as ReadonlyArray<RecordRow>))
    }
    return { rows, word: (id) => this.#strings.text(id) }
  }

  /** Records of kinds that have an index, of one agent or of all: as many are read as are answered, and one a kind. */
  #ofKinds(
    kinds: ReadonlyArray<number>,
    agent: number | null,
    first: number,
    last: number,
    { limit, order }: RecordQuery
  ): ReadonlyArray<RecordRow> {
    const different = [...new Set(kinds)]
    const values = different.flatMap((kind) => [...(agent === null ? [] : [agent]), kind, first, last])
    const statement = this.#sql(kindsSql(agent !== null, different.length, order === "desc"), "arrays")
    return statement.all(...values, limit) as unknown as ReadonlyArray<RecordRow>
  }

  parts(seqs: ReadonlyArray<number>): PartRows {
    const statement = this.#sql(partsSql, "arrays")
    const ascending = [...new Set(seqs)].sort((a, b) => a - b)
    const rows: Array<PartRow> = []
    // Neighbours are read together: a page of a chain is one statement.
    for (let from = 0, to = 0; from < ascending.length; from = to) {
      for (to = from + 1; to < ascending.length && ascending[to] === ascending[to - 1]! + 1;) to++
      const found = statement.all(
        ascending[from]! * partsPerRecord,
        (ascending[to - 1]! + 1) * partsPerRecord - 1
      ) as unknown as ReadonlyArray<PartRow>
      for (const row of found) rows.push(row)
    }
    return { rows, word: (id) => this.#strings.text(id) }
  }

  once(scope: string, keys: ReadonlyArray<string>): ReadonlyArray<IdempotencyRow> {
    const scopeId = this.#strings.find(scope)
    const statement = this.#sql("SELECT seq, digest FROM once WHERE scope = ? AND key = ?")
    return [...new Set(keys)].flatMap((key) => {
      const row = statement.get(scopeId, key)
      return row === undefined ? [] : [onceRow(key, row)]
    })
  }

  /** All keys, by the number of their scope and by key. */
  counters(names: ReadonlyArray<string>): ReadonlyArray<number> {
    return names.map((name) => (this.#sql(counterValue).get(name)?.["value"] as number | undefined) ?? 0)
  }

  idempotencyKeys(
    after: { readonly scope: string; readonly key: string } | null,
    limit: number
  ): ReadonlyArray<IdempotencyRow & { readonly scope: string }> {
    const select = (where: string): StatementSync =>
      this.#sql(`SELECT scope, key, seq, digest FROM once ${where} ORDER BY scope, key LIMIT ?`)
    const rows =
      after === null
        ? select("").all(limit)
        : select("WHERE (scope, key) > (?, ?)").all(this.#strings.find(after.scope), after.key, limit)
    return rows.map((row) => ({
      scope: this.#strings.text(row["scope"] as number),
      ...onceRow(row["key"] as string, row)
    }))
  }

  /** Node hashes out of full tiles; at level 0 those past the last full tile come from the records themselves. */
  hashes(tileLevel: number, from: number, count: number): ArrayBuffer {
    const out: Array<Uint8Array> = []
    const end = from + count
    let at = from
    while (at < end) {
      const index = Math.floor(at / tileHashes)
      const tile = this.#sql("SELECT hashes FROM tile WHERE level = ? AND idx = ?").get(tileLevel, index)?.[
        "hashes"
      ] as Uint8Array | undefined
      if (tile === undefined) break
      const upTo = Math.min(end, index * tileHashes + tile.length / hashBytes)
      if (upTo <= at) break
      out.push(tile.subarray((at - index * tileHashes) * hashBytes, (upTo - index * tileHashes) * hashBytes))
      at = upTo
      if (tile.length < tileHashes * hashBytes) break
    }
    if (tileLevel === 0 && at < end) {
      for (const row of this.#sql("SELECT seq, hash FROM record WHERE seq >= ? AND seq < ? ORDER BY seq LIMIT ?").all(
        at,
        end,
        tileHashes
      )) {
        if (row["seq"] !== at) throw new StoreDamaged(`record ${at} is missing`)
        out.push(row["hash"] as Uint8Array)
        at++
      }
    }
    const joined = new Uint8Array((at - from) * hashBytes)
    let offset = 0
    for (const hashes of out) {
      joined.set(hashes, offset)
      offset += hashes.length
    }
    return joined.buffer
  }
}

const documentOf = (collection: string, row: Row): DocumentRow => ({
  collection,
  id: row["id"] as string,
  version: row["version"] as number,
  body: row["body"] as string
})

const partsSql =
  "SELECT id, name, erased_by, CAST(salt || bytes AS BLOB) FROM part WHERE id BETWEEN ? AND ? ORDER BY id"

/** Hash and bytes come as one value, and so do salt and bytes of a part: making it takes more than copying it. */
const recordColumns = "seq, kind, agent, at_ms, CAST(hash || bytes AS BLOB)"

const pageSql = (agent: boolean, kinds: number, descending: boolean): string =>
  `SELECT ${recordColumns} FROM record WHERE seq BETWEEN ? AND ?${agent ? " AND agent = ?" : ""}${
    kinds === 0 ? "" : ` AND kind IN (${new Array(kinds).fill("?").join(", ")})`
  } ORDER BY seq ${descending ? "DESC" : "ASC"} LIMIT ?`

/**
 * One walk along the index for each kind. SQLite merges the walks of a compound select in the order of all, row by row,
 * and ends them at the limit.
 */
const kindsSql = (agent: boolean, kinds: number, descending: boolean): string => {
  const walk = agent
    ? "SELECT seq FROM record INDEXED BY record_agent_kind WHERE agent = ? AND kind = ?"
    : "SELECT seq FROM record INDEXED BY record_kind WHERE kind = ?"
  const part = `${walk} AND kind > 2 AND seq BETWEEN ? AND ?`
  const direction = descending ? "DESC" : "ASC"
  return `SELECT ${recordColumns} FROM record WHERE seq IN (${new Array(kinds).fill(part).join(" UNION ALL ")}
    ORDER BY seq ${direction} LIMIT ?) ORDER BY seq ${direction}`
}

const onceRow = (key: string, row: { readonly [column: string]: unknown }): IdempotencyRow => {
  const digest = row["digest"] as Uint8Array
  return { key, seq: row["seq"] as number, digest: digest.length === 0 ? null : Buffer.from(digest).toString("hex") }
}
