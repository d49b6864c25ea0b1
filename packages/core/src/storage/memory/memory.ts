/**
 * The store that forgets: everything in the memory of this process. For tests, demonstrations, and short-lived hosts.
 *
 * The life of a commit: it is admitted, sealed and written in one synchronous step, so there is nothing to lock and
 * nothing half done.
 * What is trusted: this process. What losing it costs: everything.
 */
import type { Crypto } from "@flyball/evidence"
import { portableCrypto } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import type { EntropySource } from "../../foundation/entropy.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { admit, erasures, isRepeat, receiptOf } from "../admit.ts"
import {
  changeProblem,
  claimProblem,
  forgetRequestProblem,
  limitProblem,
  namedProblem,
  queryProblem,
  rangeProblem
} from "../bounds.ts"
import type { StorageChoice } from "../choice.ts"
import { storageChoice } from "../choice.ts"
import { StorageConflict, StorageUnavailable } from "../faults.ts"
import { ChainTable, headOf } from "./chain.ts"
import { DocumentTable } from "./documents.ts"
import { LeaseTable } from "./leases.ts"
import { LimitTable } from "./limit-table.ts"
import { OutboxTable } from "./outbox.ts"
import { limitsProblem } from "../limits/slots.ts"
import { WEBHOOKS } from "../outbox/outbox.ts"
import { readyOutbox, type OutboxDraft, owe, wanted } from "../outbox/rules.ts"
import type { ChangeSet, CommitReceipt, Head, StorageApi } from "../port.ts"
import { Storage } from "../port.ts"
import { readDocument, readDocuments } from "../read-documents.ts"
import { commitDrafts, partCount, saltBytes, sealDrafts } from "../seal.ts"
import { plannedTimeMs, storeTimeMs, timeProblem } from "../store-time.ts"

/** Options of the memory store. */
export interface MemoryOptions {
  /** Default: the portable one. A Node host may pass OpenSSL's. */
  readonly crypto?: Crypto | undefined
}

/** A store in memory. Each time it is opened it is a new, empty one. */
export const memoryStorage = (options: MemoryOptions = {}): StorageChoice =>
  storageChoice(
    "memory",
    Layer.effect(
      Storage,
      Effect.map(Entropy, (entropy) => Storage.of(makeMemory(options.crypto ?? portableCrypto, entropy)))
    )
  )

const makeMemory = (crypto: Crypto, entropy: EntropySource): StorageApi => {
  const documents = new DocumentTable()
  const chain = new ChainTable(crypto)
  const outbox = new OutboxTable()
  const leases = new LeaseTable()
  const limits = new LimitTable()
  const counters = new Map<string, number>()

  /** Everything that can fail comes before the first write. */
  const commit = (
    change: ChangeSet,
    nowMs: number
  ): Effect.Effect<CommitReceipt, StorageConflict | StorageUnavailable> => {
    invariant(changeProblem(change))
    const drafts = change.records ?? []
    const salts = entropy.bytes(partCount(drafts) * saltBytes)
    const draft = readyOutbox(change, entropy)
    const head = chain.head()
    const untimely = drafts.length > 0 || draft !== null ? timeProblem(nowMs, head) : null
    if (untimely !== null) return Effect.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
    const { conflicts, fates } = admit(change, {
      head,
      atMs: storeTimeMs(nowMs, head),
      version: (collection, id) => documents.version(collection, id),
      uniqueHolder: (collection, key, value) => documents.uniqueHolder(collection, key, value),
      once: (scope, key) => chain.once(scope, key),
      part: (seq, name) => chain.partState(seq, name),
      count: (name) => counters.get(name) ?? 0,
      delivery: (id) => outbox.stateOf(id),
      hasEvent: (id) => outbox.hasEvent(id)
    })
    if (conflicts.length > 0) return Effect.fail(new StorageConflict({ conflicts }))
    const isFresh = (index: number): boolean => fates[index]!._tag === "Fresh"
    const fresh = drafts.filter((_, index) => isFresh(index))
    const puts = (change.puts ?? []).map((put) => ({ put, json: JSON.stringify(put.body) }))
    const committed = commitDrafts(crypto, drafts, salts).filter((_, index) => isFresh(index))
    const sealed = sealDrafts(crypto, head, nowMs, committed)

    documents.write(puts)
    documents.delete(change.deletes ?? [])
    sealed.forEach((record, index) => chain.append(record, fresh[index]!.once))
    const receipt = receiptOf(
      head,
      fates,
      sealed.map(({ record }) => headOf(record)),
      (seq) => chain.record(seq)!
    )
    for (const { seq, name, erasedBy } of erasures(change, receipt)) chain.erase(seq, name, erasedBy)
    for (const { scope, key } of change.forget ?? []) chain.forget(scope, key)
    if (!isRepeat(fates))
      for (const { add, name } of change.counts ?? []) counters.set(name, (counters.get(name) ?? 0) + add)
    if (draft !== null) writeOutbox(draft, isRepeat(fates), receipt.head, storeTimeMs(nowMs, head))
    return Effect.succeed(receipt)
  }

  const writeOutbox = (draft: OutboxDraft, repeat: boolean, head: Head, atMs: number): void => {
    for (const move of draft.moves) outbox.move(move, atMs)
    for (const one of draft.cancel) outbox.cancel(one, atMs)
    if (repeat) return
    outbox.add(
      owe(
        draft,
        {
          lastEventId: outbox.lastEventId,
          wanting: (key) => documents.holders(WEBHOOKS, key, wanted),
          lastSequence: (endpointId) => outbox.lastSequence(endpointId)
        },
        atMs,
        crypto.sha256
      ),
      head,
      atMs
    )
  }

  const asOfMs = Effect.map(Clock.currentTimeMillis, (nowMs) => plannedTimeMs(nowMs, chain.head()))

  return {
    backend: "memory",
    commit: (change) => Effect.flatMap(Clock.currentTimeMillis, (nowMs) => commit(change, nowMs)),
    asOf: Effect.map(asOfMs, (ms) => ({ ms, seq: chain.head()?.seq ?? -1 })),
    head: Effect.sync(() => chain.head()),
    get: (collection, id) =>
      Effect.sync(() => {
        const row = documents.get(collection, id)
        return row === null ? null : readDocument(row)
      }),
    find: (collection, key, value) => Effect.suspend(() => readDocuments(documents.find(collection, key, value))),
    range: (collection, key, range) =>
      Effect.suspend(() => {
        invariant(rangeProblem(range))
        return readDocuments(documents.range(collection, key, range))
      }),
    list: (collection, page) =>
      Effect.suspend(() => readDocuments(documents.list(collection, page?.after, page?.limit))),
    record: (seq) => Effect.sync(() => chain.record(seq)),
    records: (query) =>
      Effect.sync(() => {
        invariant(queryProblem(query))
        return chain.records(query)
      }),
    parts: (seqs) =>
      Effect.sync(() => {
        invariant(namedProblem("records", seqs))
        return chain.parts(seqs)
      }),
    once: (scope, keys) =>
      Effect.sync(() =>
        [...new Set(keys)].flatMap((key) => {
          const taken = chain.once(scope, key)
          return taken === null ? [] : [{ key, ...taken }]
        })
      ),
    idempotencyKeys: (after, limit) =>
      Effect.sync(() => {
        invariant(limitProblem(limit))
        return chain.idempotencyKeys(after, limit)
      }),
    hashes: (tileLevel, from, count) => Effect.sync(() => chain.hashes(tileLevel, from, count)),
    counters: (names) =>
      Effect.sync(() => {
        invariant(namedProblem("counters", names))
        return names.map((name) => counters.get(name) ?? 0)
      }),
    limits: {
      shared: false,
      take: (requests) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          invariant(limitsProblem(requests))
          return limits.take(requests, nowMs)
        })
    },
    outbox: {
      claim: (request) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          invariant(claimProblem(request))
          const head = chain.head()
          const untimely = timeProblem(nowMs, head)
          if (untimely !== null) return Effect.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
          const versionOf = (endpointId: string): number => documents.get(WEBHOOKS, endpointId)?.version ?? 0
          return Effect.succeed(outbox.claim(request, storeTimeMs(nowMs, head), versionOf))
        }),
      delivery: (id) => Effect.sync(() => outbox.delivery(id)),
      deliveriesOf: (endpointId, page) =>
        Effect.sync(() => {
          invariant(limitProblem(page.limit))
          return outbox.deliveriesOf(endpointId, page)
        }),
      event: (id) => Effect.sync(() => outbox.event(id)),
      events: (query) =>
        Effect.sync(() => {
          invariant(limitProblem(query.limit))
          return outbox.events(query)
        }),
      owned: (query) =>
        Effect.sync(() => {
          invariant(limitProblem(query.limit))
          return outbox.owned(query)
        }),
      missed: (query) =>
        Effect.sync(() => {
          invariant(limitProblem(query.limit))
          return outbox.missed(query)
        }),
      forget: (request) =>
        Effect.sync(() => {
          invariant(forgetRequestProblem(request))
          return outbox.forget(request)
        })
    },
    lease: (name, holder, ttlMs) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => leases.take(name, holder, nowMs, ttlMs)),
    releaseLease: (name, holder) => Effect.sync(() => leases.release(name, holder))
  }
}

/** Dies with the sentence, if there is one. */
const invariant = (problem: string | null): void => {
  if (problem !== null) throw new Error(problem)
}
