/**
 * The writer: batches of ChangeSets onto the chain, one transaction each.
 *
 * It runs in the storage worker and is the only code that writes rows of the chain. The head lives in memory: the
 * writer's lock says nobody else moves it.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type {
  ClaimRequest,
  Conflict,
  ForgetAnswer,
  ForgetRequest,
  Head,
  RecordReceipt,
  SealedRecord
} from "@flyball/core/storage"
import { commitDraft, sealDrafts, storeTimeMs, timeProblem } from "@flyball/core/thread"
import { nodeCrypto } from "@flyball/evidence/node/crypto"
import type { Answer, BatchAnswer } from "./answers.ts"
import type { BatchedChange, BatchedRecord } from "./batch.ts"
import { noName, readBatch } from "./batch.ts"
import { BulkInsert } from "./bulk-insert.ts"
import { Claims } from "./claims.ts"
import type { Naming } from "./documents.ts"
import { Documents } from "./documents.ts"
import { partsPerRecord } from "./layout.ts"
import { IdempotencyKeys } from "./idempotency-keys.ts"
import { OutboxForget } from "./outbox-forget.ts"
import { OutboxWriter } from "./outbox-writer.ts"
import type { ClaimRow } from "./protocol.ts"
import { faultOf, StoreDamaged, StoreRefused } from "./sqlite-fault.ts"
import { Tiles } from "./tiles.ts"
import { WordsWriter } from "./string-table-writer.ts"

/** As in core; written out, since a worker loads little. */
const WEBHOOKS = "webhooks"
const zeroHash = new Uint8Array(32)
/** Sets of names are few, but nothing bounds them. */
const keptNamings = 1_000
const noHead: Head = { seq: -1, hash: zeroHash, atMs: 0 }

/** Appends to the chain of one open database. */
export class ChainWriter {
  readonly #db: DatabaseSync
  readonly #words: WordsWriter
  readonly #tiles: Tiles
  readonly #documents: Documents
  readonly #once: IdempotencyKeys
  readonly #outbox: OutboxWriter
  readonly #claims: Claims
  readonly #forget: OutboxForget
  readonly #records: BulkInsert
  readonly #parts: BulkInsert
  readonly #rows: ReturnType<typeof prepareRows>
  /** By the names they stand for: nearly all ChangeSets of a kind have the same. */
  readonly #namings = new Map<string, Naming>()
  #head: Head | null = null
  /** Whether the batch may have left a delivery that is not finished. */
  #owed = false

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#words = new WordsWriter(db)
    this.#tiles = new Tiles(db)
    this.#documents = new Documents(db)
    this.#once = new IdempotencyKeys(db)
    this.#outbox = new OutboxWriter(db, this.#words)
    this.#claims = new Claims(db, this.#words)
    this.#forget = new OutboxForget(db)
    this.#records = new BulkInsert(db, "record (seq, kind, agent, at_ms, hash, bytes)", 6)
    this.#parts = new BulkInsert(db, "part (id, name, salt, bytes)", 4)
    this.#rows = prepareRows(db)
    this.#load()
  }

  /** Reads the head and the open tile, at the start and after every rollback. */
  #load(): void {
    this.#records.clear()
    this.#parts.clear()
    const last = this.#rows.last.get()
    this.#head =
      last === undefined
        ? null
        : { seq: last["seq"] as number, hash: last["hash"] as Uint8Array, atMs: last["at_ms"] as number }
    this.#tiles.load((this.#head?.seq ?? -1) + 1)
    this.#words.forget()
    this.#namings.clear()
    this.#documents.load()
    this.#outbox.load()
  }

  /**
   * Commits a batch in one transaction and answers each ChangeSet.
   *
   * Refused ones write nothing and leave their neighbours alone. When one fails in a way nobody foresaw, the whole is
   * rolled back
   * and each ChangeSet gets a transaction of its own, so that only the guilty one fails.
   */
  commit(nowMs: number, buffer: ArrayBuffer, names: ReadonlyArray<string>): BatchAnswer & { readonly erased: boolean } {
    const changes = readBatch(buffer)
    this.#owed = false
    const together = this.#transact(nowMs, changes, names)
    const answers =
      together.done || changes.length === 1
        ? together.answers
        : changes.map((change) => this.#transact(nowMs, [change], names).answers[0]!)
    return {
      answers,
      owed: this.#owed,
      erased: changes.some(
        (change, index) => change.erase.length + change.forget.length > 0 && answers[index]!._tag === "Committed"
      )
    }
  }

  /** `done` is false when it was rolled back before COMMIT, so that nothing was written for sure. */
  #transact(
    nowMs: number,
    changes: ReadonlyArray<BatchedChange>,
    names: ReadonlyArray<string>
  ): { readonly done: boolean; readonly answers: ReadonlyArray<Answer> } {
    const owedBefore = this.#owed
    let committing = false
    try {
      const namings = names.map((joined) => this.#naming(joined))
      this.#rows.begin.run()
      const answers = changes.map((change) => this.#apply(nowMs, change, namings[change.names]!))
      this.#flush()
      committing = true
      this.#rows.commit.run()
      return { done: true, answers }
    } catch (error) {
      const fault = faultOf(error, committing ? "unknown" : "no")
      const done = fault._tag === "Unavailable" && fault.wrote === "unknown"
      if (!done) this.#owed = owedBefore
      try {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
        this.#load()
      } catch (second) {
        // The connection is of no use any more; the worker ends, and the next call starts another.
        throw new AggregateError([error, second], "The store could not roll back after a failure.", { cause: second })
      }
      return { done, answers: changes.map(() => ({ _tag: "Failed", fault })) }
    }
  }

  #naming(joined: string): Naming {
    let naming = this.#namings.get(joined)
    if (naming !== undefined) return naming
    naming = namingOf(joined.split("\0"), this.#words)
    if (this.#namings.size >= keptNamings) this.#namings.clear()
    this.#namings.set(joined, naming)
    return naming
  }

  #apply(nowMs: number, change: BatchedChange, naming: Naming): Answer {
    const untimely = change.records.length > 0 || change.outbox !== null ? timeProblem(nowMs, this.#head) : null
    if (untimely !== null) return { _tag: "Failed", fault: faultOf(new StoreRefused(untimely)) }
    const conflicts: Array<Conflict> = []
    if (change.expectEmpty && this.#head !== null) conflicts.push({ _tag: "NotEmpty" })
    if (this.#head === null && change.records.length > 0 && !change.startsChain) conflicts.push({ _tag: "Empty" })
    this.#documents.check(change, naming, conflicts)
    const first = (this.#head?.seq ?? -1) + 1
    const seqs = this.#once.claim(change.records, first, naming, change.expectNew, conflicts)
    const erase = this.#findParts(change, naming, conflicts)
    if (change.outbox !== null) conflicts.push(...this.#outbox.conflicts(change.outbox))
    if (conflicts.length > 0) {
      this.#once.undo(change.records, seqs, first, naming)
      return { _tag: "Refused", conflicts }
    }
    const records = this.#append(nowMs, change, seqs, naming)
    this.#documents.write(change.puts, naming)
    this.#documents.delete(change.deletes, naming)
    if (change.puts.some(({ collection }) => naming.text(collection) === WEBHOOKS)) {
      this.#documents.flush()
      this.#outbox.webhooksChanged()
    }
    for (const { id, by } of erase) this.#rows.erasePart.run(records[by]!.seq, id)
    for (const { scope, key } of change.forget) this.#once.forget(naming.find(scope), key)
    const head = this.#head ?? noHead
    if (
      change.outbox !== null &&
      this.#outbox.write(
        change.outbox,
        records.length > 0 && records.every(({ duplicate }) => duplicate),
        head,
        storeTimeMs(nowMs, this.#head)
      )
    )
      this.#owed = true
    return { _tag: "Committed", receipt: { records, head } }
  }

  #findParts(
    change: BatchedChange,
    naming: Naming,
    conflicts: Array<Conflict>
  ): ReadonlyArray<{ readonly id: number; readonly by: number }> {
    if (change.erase.length > 0) this.#flush()
    return change.erase.flatMap(({ seq, name, by }) => {
      const row = this.#rows.findPart.get(seq * partsPerRecord, (seq + 1) * partsPerRecord - 1, naming.find(name))
      if (row !== undefined && row["erased_by"] === null) return [{ id: row["id"] as number, by }]
      conflicts.push({ _tag: "Part", seq, name: naming.text(name), found: row === undefined ? "missing" : "erased" })
      return []
    })
  }

  /** Seals and inserts the drafts that have a seq of their own, and answers a receipt for every draft. */
  #append(
    nowMs: number,
    { agents, records }: BatchedChange,
    seqs: ReadonlyArray<number>,
    naming: Naming
  ): ReadonlyArray<RecordReceipt> {
    let next = (this.#head?.seq ?? -1) + 1
    const fresh: Array<BatchedRecord> = []
    records.forEach((record, index) => {
      if (seqs[index] !== next) return
      fresh.push(record)
      next += 1
    })
    const agentOf = (index: number): string | null => (index === noName ? null : agents[index]!)
    const sealed = sealDrafts(
      nodeCrypto,
      this.#head,
      nowMs,
      fresh.map(({ agent, bodyText, kind, parts, salts }) =>
        commitDraft(
          nodeCrypto,
          {
            agentId: agentOf(agent),
            bodyText,
            kind: naming.text(kind),
            parts: parts.map(({ bytes, name }) => ({ name: naming.text(name), bytes }))
          },
          salts
        )
      )
    )
    sealed.forEach((one, index) => this.#insert(one, fresh[index]!, naming))
    let used = 0
    return seqs.map((seq): RecordReceipt => {
      const made = sealed[used]?.record
      if (made?.seq !== seq) return this.#receiptOf(seq)
      used += 1
      return { seq, hash: made.hash, atMs: made.atMs, duplicate: false }
    })
  }

  /** Adds the rows of a sealed record, which becomes the head. */
  #insert(
    { parts, record: { agentId, atMs, bytes, hash, seq } }: SealedRecord,
    draft: BatchedRecord,
    naming: Naming
  ): void {
    const agent = agentId === null ? null : this.#words.intern(agentId)
    this.#records.add(seq, naming.intern(draft.kind), agent, atMs, hash, bytes)
    parts.forEach(({ bytes: content, salt }, position) =>
      this.#parts.add(seq * partsPerRecord + position, naming.intern(draft.parts[position]!.name), salt, content)
    )
    this.#tiles.append(seq, hash)
    this.#head = { seq, hash, atMs }
  }

  /** Claims deliveries, in a transaction of their own. */
  claim(request: ClaimRequest, nowMs: number): ClaimRow {
    const untimely = timeProblem(nowMs, this.#head)
    if (untimely !== null) throw new StoreRefused(untimely)
    return this.#claims.claim(request, storeTimeMs(nowMs, this.#head))
  }

  /** Forgets what is over in the outbox, in a transaction of its own. */
  forget(request: ForgetRequest): ForgetAnswer {
    try {
      return this.#forget.forget(request)
    } finally {
      // What was the last event may be gone.
      this.#outbox.load()
    }
  }

  /** Puts everything that was appended into its tables. */
  #flush(): void {
    this.#words.flush()
    this.#records.flush()
    this.#parts.flush()
    this.#documents.flush()
    this.#outbox.flush()
  }

  #receiptOf(seq: number): RecordReceipt {
    this.#flush()
    const row = this.#rows.receipt.get(seq)
    if (row === undefined) throw new StoreDamaged(`a once key names record ${seq}, which is not there`)
    return { seq, hash: row["hash"] as Uint8Array, atMs: row["at_ms"] as number, duplicate: true }
  }

  /**
   * Takes or renews a lease; also one that ends more than twice the asked time from now, because the clock stepped back
   * since it was taken.
   */
  lease(name: string, holder: string, nowMs: number, untilMs: number): boolean {
    return this.#rows.takeLease.run(name, holder, untilMs, holder, nowMs, nowMs).changes === 1
  }

  /** Gives a lease back, if it is held by `holder`. */
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

/** Resolves names, each at most once: a number stays that of its text unless its transaction is rolled back. */
const namingOf = (names: ReadonlyArray<string>, words: WordsWriter): Naming => {
  const ids: Array<number | null> = new Array<number | null>(names.length).fill(null)
  return {
    find: (name) => ids[name] ?? words.find(names[name]!),
    intern: (name) => (ids[name] ??= words.intern(names[name]!)),
    text: (name) => names[name]!
  }
}
