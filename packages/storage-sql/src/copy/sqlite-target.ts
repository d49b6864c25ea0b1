/** Writing all rows into a new SQLite store. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { partsPerRecord } from "../sqlite/layout.ts"
import { StoreDamaged } from "../sqlite/sqlite-fault.ts"
import { StringTableWriter } from "../sqlite/string-table-writer.ts"
import type { NodeRow, Page, PartRow, RecordRow, RowCounts } from "./rows.ts"
import { noRows } from "./rows.ts"

/** Hashes in a tile: 8 levels of the tree. */
const width = 256

/**
 * Takes the pages of a copy in order. The database has this version's schema, holds nothing, and is in a transaction of
 * the caller.
 */
export class SqliteTarget {
  readonly #strings: StringTableWriter
  readonly #rows: ReturnType<typeof prepareRows>
  readonly #counts = noRows()
  /** Hashes of the open tile of each level. */
  readonly #open: Array<Array<Uint8Array>> = []
  /** How many tiles of each level are written. */
  readonly #written: Array<number> = []
  #part = { seq: -1, position: 0 }
  #nextSeq = 0

  constructor(db: DatabaseSync) {
    this.#strings = new StringTableWriter(db)
    this.#rows = prepareRows(db)
  }

  /** How many rows came. */
  get counts(): RowCounts {
    return this.#counts
  }

  write(page: Page): void {
    this.#counts[page.table] += page.rows.length
    this.#insert(page)
    this.#strings.flush()
  }

  #insert(page: Page): void {
    switch (page.table) {
      case "records":
        return page.rows.forEach((row) => this.#record(row))
      case "parts":
        return page.rows.forEach((row) => this.#addPart(row))
      case "once":
        return page.rows.forEach(
          ({ digest, key, scope, seq }) => void this.#rows.once.run(this.#strings.intern(scope), key, seq, digest)
        )
      case "nodes":
        return page.rows.forEach((row) => this.#node(row))
      case "documents":
        return page.rows.forEach(
          ({ body, collection, id, version }) =>
            void this.#rows.document.run(this.#strings.intern(collection), id, version, body)
        )
      case "documentKeys":
        return page.rows.forEach(({ collection, id, key, single, value }) => {
          const home = this.#strings.intern(collection)
          const doc = this.#rows.findDocument.get(home, id)?.["doc"]
          if (doc === undefined)
            throw new StoreDamaged(`a look-up key of ${collection} names a document that is not there`)
          this.#rows.documentKey.run(home, this.#strings.intern(key), value, doc as number, single ? 1 : 0)
        })
      case "events":
        return page.rows.forEach(
          ({ atMs, data, hash, id, owner, seq, type }) =>
            void this.#rows.event.run(
              id,
              this.#strings.intern(type),
              atMs,
              seq,
              hash,
              data,
              owner === null ? null : this.#strings.intern(owner)
            )
        )
      case "deliveries":
        return page.rows.forEach(
          (row) =>
            void this.#rows.delivery.run(
              row.id,
              this.#numberOf("event", row.eventId),
              this.#strings.intern(row.endpointId),
              row.sequence,
              row.state,
              row.attempts,
              row.createdAtMs,
              row.nextAttemptAtMs,
              row.leaseUntilMs,
              row.finishedAtMs
            )
        )
      case "attempts":
        return page.rows.forEach(
          (row) =>
            void this.#rows.attempt.run(
              this.#numberOf("delivery", row.deliveryId),
              row.attempt,
              row.startedAtMs,
              row.endedAtMs,
              row.statusCode,
              row.errorCode,
              row.excerpt
            )
        )
      case "counters":
        return page.rows.forEach(({ name, value }) => void this.#rows.counter.run(name, value))
      case "sequences":
        return page.rows.forEach(
          ({ endpointId, sequence }) => void this.#rows.lane.run(this.#strings.intern(endpointId), sequence)
        )
    }
  }

  /** Writes what is still open. Called once, after the last page. */
  finish(): void {
    // The open tile of level 0 is in the records; tiles above it grow by one hash at a time.
    this.#open.forEach((hashes, level) => {
      if (level > 0 && hashes.length > 0) this.#tile(level, hashes)
    })
  }

  #record({ agentId, atMs, bytes, hash, kind, seq }: RecordRow): void {
    if (seq !== this.#nextSeq) throw new StoreDamaged(`expected record ${this.#nextSeq}, saw ${seq}`)
    this.#nextSeq += 1
    this.#rows.record.run(
      seq,
      this.#strings.intern(kind),
      agentId === null ? null : this.#strings.intern(agentId),
      atMs,
      hash,
      bytes
    )
    this.#grow(0, seq, hash)
  }

  #addPart({ bytes, erasedBy, name, salt, seq }: PartRow): void {
    this.#part = { seq, position: this.#part.seq === seq ? this.#part.position + 1 : 0 }
    if (this.#part.position >= partsPerRecord)
      throw new StoreDamaged(`record ${seq} has more than ${partsPerRecord} parts`)
    this.#rows.part.run(seq * partsPerRecord + this.#part.position, this.#strings.intern(name), salt, bytes, erasedBy)
  }

  #node({ hash, index, level }: NodeRow): void {
    this.#grow(level, index, hash)
  }

  #numberOf(table: "event" | "delivery", id: string): number {
    const row = (table === "event" ? this.#rows.findEvent : this.#rows.findDelivery).get(id)
    if (row === undefined) throw new StoreDamaged(`a row of the outbox names ${id}, which is not there`)
    return row["n"] as number
  }

  #grow(level: number, index: number, hash: Uint8Array): void {
    const open = (this.#open[level] ??= [])
    if (index !== (this.#written[level] ?? 0) * width + open.length)
      throw new StoreDamaged(`hash ${index} of tile level ${level} is out of its order`)
    open.push(hash)
    if (open.length === width) this.#tile(level, open)
  }

  #tile(level: number, hashes: Array<Uint8Array>): void {
    const index = this.#written[level] ?? 0
    this.#rows.tile.run(level, index, Buffer.concat(hashes))
    this.#written[level] = index + 1
    hashes.length = 0
  }
}

const prepareRows = (db: DatabaseSync) => {
  const sql = (text: string): StatementSync => db.prepare(text)
  return {
    record: sql("INSERT INTO record (seq, kind, agent, at_ms, hash, bytes) VALUES (?, ?, ?, ?, ?, ?)"),
    part: sql("INSERT INTO part (id, name, salt, bytes, erased_by) VALUES (?, ?, ?, ?, ?)"),
    once: sql("INSERT INTO once (scope, key, seq, digest) VALUES (?, ?, ?, ?)"),
    tile: sql("INSERT INTO tile (level, idx, hashes) VALUES (?, ?, ?)"),
    document: sql("INSERT INTO document (collection, id, version, body) VALUES (?, ?, ?, ?)"),
    findDocument: sql("SELECT doc FROM document WHERE collection = ? AND id = ?"),
    documentKey: sql("INSERT INTO document_key (collection, name, value, doc, single) VALUES (?, ?, ?, ?, ?)"),
    event: sql("INSERT INTO event (id, type, at_ms, seq, hash, data, owner) VALUES (?, ?, ?, ?, ?, ?, ?)"),
    findEvent: sql("SELECT n FROM event WHERE id = ?"),
    delivery: sql(`INSERT INTO delivery (id, event, endpoint, sequence, state, attempts, created_at_ms, next_at_ms,
        lease_until_ms, finished_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    findDelivery: sql("SELECT n FROM delivery WHERE id = ?"),
    attempt: sql(
      "INSERT INTO attempt (delivery, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?)"
    ),
    counter: sql("INSERT INTO counter (name, value) VALUES (?, ?)"),
    lane: sql("INSERT INTO lane (endpoint, sequence, turn) VALUES (?, ?, 0)")
  }
}
