/**
 * Writes batches of ChangeSets to the chain, one transaction per batch.
 *
 * It runs in the storage worker and is the only code that writes rows of the chain. Core's `admit` decides what may be
 * written. The head is kept in memory: the writer's lock excludes every other writer.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { ClaimRequest, ForgetAnswer, ForgetRequest, Fate, Head, SealedRecord } from "@flyball/core/storage"
import {
  type AdmissibleChange,
  admit,
  commitDraft,
  type DocumentAct,
  documentActs,
  isRepeat,
  receiptOf,
  sealDrafts,
  storeTimeMs,
  type StoreView,
  timeProblem
} from "@flyball/core/thread"
import { nodeCrypto } from "@flyball/evidence/node/crypto"
import type { Answer, BatchAnswer } from "./answers.ts"
import type { BatchedChange, BatchedRecord } from "./batch.ts"
import { anyVersion, noName, readBatch } from "./batch.ts"
import { BulkInsert } from "./bulk-insert.ts"
import { Claims } from "./outbox/claims.ts"
import { Counters } from "./counters.ts"
import type { Naming } from "./documents.ts"
import { Documents } from "./documents.ts"
import { partsPerRecord } from "./layout.ts"
import { IdempotencyKeys } from "./idempotency-keys.ts"
import { OutboxForget } from "./outbox/outbox-forget.ts"
import { OutboxWriter } from "./outbox/outbox-writer.ts"
import type { ClaimRow } from "./thread/protocol.ts"
import { faultOf, StoreDamaged, StoreRefused } from "./sqlite-fault.ts"
import { Tiles } from "./tiles.ts"
import { StringTableWriter } from "./string-table-writer.ts"

/** As in core; written out, since a worker loads little. */
const WEBHOOKS = "webhooks"
/** Bounds the cache of sets of names: a caller could send new ones without end. */
const keptNamings = 1_000

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
  /** By the joined names: nearly all ChangeSets of a kind have the same ones. */
  readonly #namings = new Map<string, Naming>()
  #head: Head | null = null
  /** The state that `admit` reads: the tables and the rows that wait for them. It changes nothing. */
  readonly #view: StoreView
  /** The time of the batch at hand. */
  #nowMs = 0
  /** Whether the batch may have added a delivery that is not finished. */
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
    this.#namings.clear()
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
  commit(nowMs: number, buffer: ArrayBuffer, names: ReadonlyArray<string>): BatchAnswer & { readonly erased: boolean } {
    const changes = readBatch(buffer)
    this.#hasDeliveries = false
    const together = this.#transact(nowMs, changes, names)
    const answers =
      together.done || changes.length === 1
        ? together.answers
        : changes.map((change) => this.#transact(nowMs, [change], names).answers[0]!)
    return {
      answers,
      hasDeliveries: this.#hasDeliveries,
      erased: changes.some(
        (change, index) => change.erase.length + change.forget.length > 0 && answers[index]!._tag === "Committed"
      )
    }
  }

  /** `done` is false if the transaction was rolled back before COMMIT, so that certainly nothing was written. */
  #transact(
    nowMs: number,
    changes: ReadonlyArray<BatchedChange>,
    names: ReadonlyArray<string>
  ): { readonly done: boolean; readonly answers: ReadonlyArray<Answer> } {
    const hadDeliveries = this.#hasDeliveries
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

  #naming(joined: string): Naming {
    let naming = this.#namings.get(joined)
    if (naming !== undefined) return naming
    naming = namingOf(joined.split("\0"), this.#strings)
    if (this.#namings.size >= keptNamings) this.#namings.clear()
    this.#namings.set(joined, naming)
    return naming
  }

  #apply(nowMs: number, change: BatchedChange, naming: Naming): Answer {
    const untimely = change.records.length > 0 || change.outbox !== null ? timeProblem(nowMs, this.#head) : null
    if (untimely !== null) return { _tag: "Failed", fault: faultOf(new StoreRefused(untimely)) }
    const before = this.#head
    this.#nowMs = nowMs
    const { conflicts, fates } = admit(admissible(change, naming), this.#view)
    if (conflicts.length > 0) return { _tag: "Refused", conflicts }
    const sealed = this.#append(nowMs, change, fates, naming)
    const receipt = receiptOf(before, fates, sealed, (seq) => this.#storedHead(seq))
    this.#documents.write(change.puts, naming)
    this.#documents.delete(change.acts.deletes, naming)
    if (change.puts.some(({ collection }) => naming.text(collection) === WEBHOOKS)) {
      this.#documents.flush()
      this.#outbox.webhooksChanged()
    }
    for (const { by, name, seq } of change.erase)
      this.#rows.erasePart.run(receipt.records[by]!.seq, this.#findPart(seq, naming.text(name))!.id)
    for (const { scope, key } of change.forget) this.#once.forget(naming.text(scope), key)
    if (!isRepeat(fates)) this.#counters.add(change.counts)
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
  #append(
    nowMs: number,
    { agents, records }: BatchedChange,
    fates: ReadonlyArray<Fate>,
    naming: Naming
  ): ReadonlyArray<Head> {
    const fresh = records.filter((_, index) => fates[index]!._tag === "Fresh")
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
    return sealed.map(({ record }) => record)
  }

  /** Adds the rows of a sealed record, which becomes the head. */
  #insert(
    { parts, record: { agentId, atMs, bytes, hash, seq } }: SealedRecord,
    draft: BatchedRecord,
    naming: Naming
  ): void {
    const agent = agentId === null ? null : this.#strings.intern(agentId)
    this.#records.add(seq, naming.intern(draft.kind), agent, atMs, hash, bytes)
    parts.forEach(({ bytes: content, salt }, position) =>
      this.#parts.add(seq * partsPerRecord + position, naming.intern(draft.parts[position]!.name), salt, content)
    )
    if (draft.once !== null) this.#once.take(naming.text(draft.once.scope), draft.once.key, seq, draft.once.digest)
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

/** Resolves names, each at most once. A text keeps its number unless its transaction is rolled back. */
const namingOf = (names: ReadonlyArray<string>, strings: StringTableWriter): Naming => {
  const ids: Array<number | null> = new Array<number | null>(names.length).fill(null)
  return {
    find: (name) => ids[name] ?? strings.find(names[name]!),
    intern: (name) => (ids[name] ??= strings.intern(names[name]!)),
    text: (name) => names[name]!
  }
}

const admissibleActs = (
  acts: BatchedChange["acts"],
  text: Naming["text"]
): Required<Pick<AdmissibleChange, DocumentAct>> => {
  const read = {} as Record<DocumentAct, ReadonlyArray<{ collection: string; id: string; version: number }>>
  for (const act of documentActs) read[act] = acts[act].map((one) => ({ ...one, collection: text(one.collection) }))
  return read
}

/** A ChangeSet of a batch as `admit` reads it. */
const admissible = (change: BatchedChange, { text }: Naming): AdmissibleChange => ({
  expectEmpty: change.expectEmpty,
  expectNew: change.expectNew,
  sealBeforeMs: change.sealBeforeMs,
  expects: change.expects.map((one) => ({ ...one, collection: text(one.collection) })),
  puts: change.puts.map(({ collection, expectedVersion, id, keys }) => {
    const put = {
      collection: text(collection),
      id,
      expectedVersion: expectedVersion === anyVersion ? null : expectedVersion
    }
    const unique = keys.filter(({ single }) => single)
    return unique.length === 0
      ? put
      : { ...put, unique: Object.fromEntries(unique.map(({ name, value }) => [text(name), value])) }
  }),
  ...admissibleActs(change.acts, text),
  records: change.records.map(({ kind, once }) =>
    once === null
      ? { kind: text(kind) }
      : {
          kind: text(kind),
          once: { scope: text(once.scope), key: once.key, digest: Buffer.from(once.digest).toString("hex") }
        }
  ),
  counts: change.counts,
  erase: change.erase.map(({ name, seq }) => ({ seq, name: text(name) })),
  ...(change.outbox === null ? {} : { moves: change.outbox.moves, again: change.outbox.again })
})
