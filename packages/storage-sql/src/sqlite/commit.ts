/**
 * Writes batches of ChangeSets to the chain, one transaction per batch.
 *
 * It runs in the storage worker and is the only code that writes rows of the chain. Core's `admit` decides what may be
 * written. The head is kept in memory: the writer's lock excludes every other writer.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { ClaimRequest, ForgetAnswer, ForgetRequest, Fate, Head, SealedRecord } from "@flyball/core/storage"
import {
  admit,
  commitDraft,
  isRepeat,
  receiptOf,
  saltBytes,
  sealDrafts,
  storeTimeMs,
  type StoreView,
  timeProblem
} from "@flyball/core/thread"
import { nodeCrypto } from "@flyball/evidence/node/crypto"
import type { Answer, BatchAnswer } from "./answers.ts"
import { BulkInsert } from "./bulk-insert.ts"
import { Claims } from "./outbox/claims.ts"
import { Counters } from "./counters.ts"
import { Documents } from "./documents.ts"
import { partsPerRecord } from "./layout.ts"
import { IdempotencyKeys } from "./idempotency-keys.ts"
import { OutboxForget } from "./outbox/outbox-forget.ts"
import { OutboxWriter } from "./outbox/outbox-writer.ts"
import type { ClaimRow } from "./thread/protocol.ts"
import type { PreparedChange, PreparedRecord } from "./prepared-change.ts"
import { faultOf, StoreDamaged, StoreRefused } from "./sqlite-fault.ts"
import { Tiles } from "./tiles.ts"
import { StringTableWriter } from "./string-table-writer.ts"

/** As in core; written out, since a worker loads little. */
const WEBHOOKS = "webhooks"

/** Appends to the chain of one open database. */
export class ChainWriter {
  readonly #db: DatabaseSync
  readonly #strings: StringTableWriter
  readonly #tiles: Tiles
  readonly #documents: Documents
  readonly #once: IdempotencyKeys
  readonly #counters: Counters
  readonly #outbox: OutboxWriter
  readonly #claims: Claims
  readonly #forget: OutboxForget
  readonly #records: BulkInsert
  readonly #parts: BulkInsert
  readonly #rows: ReturnType<typeof prepareRows>
  #head: Head | null = null
  /** The state that `admit` reads: the tables and the rows that wait for them. It changes nothing. */
  readonly #view: StoreView
  /** The time of the batch at hand. */
  #nowMs = 0
  /** True when the batch may have added a delivery that is not finished. */
  #hasDeliveries = false

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#strings = new StringTableWriter(db)
    this.#tiles = new Tiles(db)
    this.#documents = new Documents(db, this.#strings)
    this.#once = new IdempotencyKeys(db, this.#strings)
    this.#counters = new Counters(db)
    this.#outbox = new OutboxWriter(db, this.#strings)
    this.#claims = new Claims(db, this.#strings)
    this.#forget = new OutboxForget(db)
    this.#records = new BulkInsert(db, "record (seq, kind, agent, at_ms, hash, bytes)", 6)
    this.#parts = new BulkInsert(db, "part (id, name, salt, bytes)", 4)
    this.#rows = prepareRows(db)
    this.#view = this.#makeView()
    this.#load()
  }

  #makeView(): StoreView {
    const headOf = (): Head | null => this.#head
    const atMs = (): number => storeTimeMs(this.#nowMs, this.#head)
    return {
      get head() {
        return headOf()
      },
      get atMs() {
        return atMs()
      },
      version: (collection, id) => this.#documents.version(collection, id),
      uniqueHolder: (collection, key, value) => this.#documents.uniqueHolder(collection, key, value),
      once: (scope, key) => this.#once.find(scope, key),
      part: (seq, name) => {
        const found = this.#findPart(seq, name)
        return found === null ? "missing" : found.isErased ? "erased" : "present"
      },
      count: (name) => this.#counters.value(name),
      delivery: (id) => this.#outbox.delivery(id),
      hasEvent: (id) => this.#outbox.hasEvent(id)
    }
  }

  /** Reads the head and the open tile: at the start and after every rollback. */
  #load(): void {
    this.#records.clear()
    this.#parts.clear()
    const last = this.#rows.last.get()
    this.#head =
      last === undefined
        ? null
        : { seq: last["seq"] as number, hash: last["hash"] as Uint8Array, atMs: last["at_ms"] as number }
    this.#tiles.load((this.#head?.seq ?? -1) + 1)
    this.#strings.forget()
    this.#once.clear()
    this.#documents.load()
    this.#outbox.load()
  }

  /**
   * Commits a batch in one transaction and answers each ChangeSet.
   *
   * A refused ChangeSet writes nothing and does not affect the others. If one fails unexpectedly, the batch is rolled
   * back and each ChangeSet gets its own transaction, so that only the faulty one fails.
   */
  commit(nowMs: number, changes: ReadonlyArray<PreparedChange>): BatchAnswer & { readonly erased: boolean } {
    this.#hasDeliveries = false
    const together = this.#transact(nowMs, changes)
    const answers =
      together.done || changes.length === 1
        ? together.answers
        : changes.map((change) => this.#transact(nowMs, [change]).answers[0]!)
    return {
      answers,
      hasDeliveries: this.#hasDeliveries,
      erased: changes.some(
        ({ erase = [], forget = [] }, index) => erase.length + forget.length > 0 && answers[index]!._tag === "Committed"
      )
    }
  }

  /** `done` is false if the transaction was rolled back before COMMIT, so that certainly nothing was written. */
  #transact(
    nowMs: number,
    changes: ReadonlyArray<PreparedChange>
  ): { readonly done: boolean; readonly answers: ReadonlyArray<Answer> } {
    const hadDeliveries = this.#hasDeliveries
    let committing = false
    try {
      this.#rows.begin.run()
      const answers = changes.map((change) => this.#apply(nowMs, change))
      this.#flush()
      committing = true
      this.#rows.commit.run()
      return { done: true, answers }
    } catch (error) {
      const fault = faultOf(error, committing ? "unknown" : "no")
      const done = fault._tag === "Unavailable" && fault.wrote === "unknown"
      if (!done) this.#hasDeliveries = hadDeliveries
      try {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
        this.#load()
      } catch (second) {
        // The connection is unusable. The worker ends, and the next call starts another.
        throw new AggregateError([error, second], "The store could not roll back after a failure.", { cause: second })
      }
      return { done, answers: changes.map(() => ({ _tag: "Failed", fault })) }
    }
  }

  #apply(nowMs: number, change: PreparedChange): Answer {
    const untimely = change.records.length > 0 || change.outbox !== null ? timeProblem(nowMs, this.#head) : null
    if (untimely !== null) return { _tag: "Failed", fault: faultOf(new StoreRefused(untimely)) }
    const { counts = [], deletes = [], erase = [], forget = [], puts = [] } = change
    const before = this.#head
    this.#nowMs = nowMs
    const { conflicts, fates } = admit(change, this.#view)
    if (conflicts.length > 0) return { _tag: "Refused", conflicts }
    const sealed = this.#append(nowMs, change, fates)
    const receipt = receiptOf(before, fates, sealed, (seq) => this.#storedHead(seq))
    this.#documents.write(puts)
    this.#documents.delete(deletes)
    if (puts.some(({ collection }) => collection === WEBHOOKS)) {
      this.#documents.flush()
      this.#outbox.webhooksChanged()
    }
    for (const { by, name, seq } of erase)
      this.#rows.erasePart.run(receipt.records[by]!.seq, this.#findPart(seq, name)!.id)
    for (const { scope, key } of forget) this.#once.forget(scope, key)
    if (!isRepeat(fates)) this.#counters.add(counts)
    if (
      change.outbox !== null &&
      this.#outbox.write(change.outbox, isRepeat(fates), receipt.head, storeTimeMs(nowMs, this.#head))
    )
      this.#hasDeliveries = true
    return { _tag: "Committed", receipt }
  }

  #findPart(seq: number, name: string): { readonly id: number; readonly isErased: boolean } | null {
    this.#flush()
    const row = this.#rows.findPart.get(seq * partsPerRecord, (seq + 1) * partsPerRecord - 1, this.#strings.find(name))
    return row === undefined ? null : { id: row["id"] as number, isErased: row["erased_by"] !== null }
  }

  /** Seals and inserts the fresh drafts. Returns their receipts. */
  #append(nowMs: number, { records, salts }: PreparedChange, fates: ReadonlyArray<Fate>): ReadonlyArray<Head> {
    let salted = 0
    const fresh: Array<PreparedRecord> = []
    const committed = records.flatMap((record, index) => {
      const own = salts.subarray(salted, (salted += record.parts.length * saltBytes))
      if (fates[index]!._tag !== "Fresh") return []
      fresh.push(record)
      const parts = record.parts.map(({ content, name }) => ({
        name,
        bytes: typeof content === "string" ? Buffer.from(content) : content
      }))
      return [commitDraft(nodeCrypto, { ...record, parts }, own)]
    })
    const sealed = sealDrafts(nodeCrypto, this.#head, nowMs, committed)
    sealed.forEach((one, index) => this.#insert(one, fresh[index]!))
    return sealed.map(({ record }) => record)
  }

  /** Adds the rows of a sealed record, which becomes the head. */
  #insert({ parts, record: { agentId, atMs, bytes, hash, kind, seq } }: SealedRecord, { once }: PreparedRecord): void {
    const agent = agentId === null ? null : this.#strings.intern(agentId)
    this.#records.add(seq, this.#strings.intern(kind), agent, atMs, hash, bytes)
    parts.forEach(({ bytes: content, name, salt }, position) =>
      this.#parts.add(seq * partsPerRecord + position, this.#strings.intern(name), salt, content)
    )
    if (once !== undefined) this.#once.take(once.scope, once.key, seq, once.digest)
    this.#tiles.append(seq, hash)
    this.#head = { seq, hash, atMs }
  }

  /** Claims deliveries, in its own transaction. */
  claim(request: ClaimRequest, nowMs: number): ClaimRow {
    const untimely = timeProblem(nowMs, this.#head)
    if (untimely !== null) throw new StoreRefused(untimely)
    return this.#claims.claim(request, storeTimeMs(nowMs, this.#head))
  }

  /** Deletes finished rows of the outbox, in its own transaction. */
  forget(request: ForgetRequest): ForgetAnswer {
    try {
      return this.#forget.forget(request)
    } finally {
      // The last event may be deleted.
      this.#outbox.load()
    }
  }

  /** Inserts all rows that wait. */
  #flush(): void {
    this.#strings.flush()
    this.#records.flush()
    this.#parts.flush()
    this.#once.flush()
    this.#documents.flush()
    this.#outbox.flush()
  }

  #storedHead(seq: number): Head {
    this.#flush()
    const row = this.#rows.receipt.get(seq)
    if (row === undefined) throw new StoreDamaged(`an idempotency key names record ${seq}, which is missing`)
    return { seq, hash: row["hash"] as Uint8Array, atMs: row["at_ms"] as number }
  }

  /**
   * Takes or renews a lease. A lease that ends later than twice the requested duration from now is taken over too: the
   * clock stepped back since it was taken.
   */
  lease(name: string, holder: string, nowMs: number, untilMs: number): boolean {
    return this.#rows.takeLease.run(name, holder, untilMs, holder, nowMs, nowMs).changes === 1
  }

  /** Releases a lease if `holder` holds it. */
  releaseLease(name: string, holder: string): void {
    this.#rows.dropLease.run(name, holder)
  }
}

const prepareRows = (db: DatabaseSync) => {
  const sql = (text: string): StatementSync => db.prepare(text)
  return {
    begin: sql("BEGIN IMMEDIATE"),
    commit: sql("COMMIT"),
    last: sql("SELECT seq, hash, at_ms FROM record ORDER BY seq DESC LIMIT 1"),
    receipt: sql("SELECT hash, at_ms FROM record WHERE seq = ?"),
    findPart: sql("SELECT id, erased_by FROM part WHERE id BETWEEN ? AND ? AND name = ?"),
    erasePart: sql("UPDATE part SET salt = NULL, bytes = NULL, erased_by = ? WHERE id = ?"),
    takeLease: sql(
      `INSERT INTO lease (name, holder, until_ms) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
       WHERE holder = ? OR until_ms <= ? OR until_ms > 2 * excluded.until_ms - ?`
    ),
    dropLease: sql("DELETE FROM lease WHERE name = ? AND holder = ?")
  }
}
