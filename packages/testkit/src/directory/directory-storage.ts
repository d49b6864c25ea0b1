/**
 * A store in a folder of files, for tests: small enough to read in one sitting, and durable.
 *
 * What is trusted: the disk, and that one process has the folder open. What losing it costs: everything.
 */
import {
  admit,
  changeProblem,
  type ChangeSet,
  claimProblem,
  commitDrafts,
  type CommitReceipt,
  Entropy,
  type EntropySource,
  erasures,
  forgetRequestProblem,
  isRepeat,
  limitProblem,
  maxRows,
  partCount,
  plannedTimeMs,
  queryProblem,
  readDocument,
  readDocuments,
  readyOutbox,
  receiptOf,
  saltBytes,
  sealDrafts,
  Storage,
  type StorageApi,
  type StorageChoice,
  storageChoice,
  StorageConflict,
  StorageUnavailable,
  storeTimeMs,
  timeProblem,
  WEBHOOKS
} from "@flyball/core/storage"
import { wanted, wantedKey } from "@flyball/core/thread"
import { portableCrypto } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import { Files } from "./files.ts"
import { Outbox } from "./outbox.ts"
import { Chain, Documents } from "./tables.ts"

/** A store in this folder, which is made if it is new. */
export const directoryStorage = (folder: string): StorageChoice =>
  storageChoice(
    "directory",
    Layer.effect(
      Storage,
      Effect.map(Entropy, (entropy) => Storage.of(openDirectory(folder, entropy)))
    )
  )

const openDirectory = (folder: string, entropy: EntropySource): StorageApi => {
  const files = new Files(folder)
  const chain = new Chain(files, portableCrypto)
  const documents = new Documents(files)
  const outbox = new Outbox(files, portableCrypto)
  const wanting = (type: string) => documents.find(WEBHOOKS, wantedKey(type), wanted).map(({ id }) => id)

  const commit = (
    change: ChangeSet,
    nowMs: number
  ): Effect.Effect<CommitReceipt, StorageConflict | StorageUnavailable> => {
    invariant(changeProblem(change))
    const drafts = change.records ?? []
    const salts = entropy.bytes(partCount(drafts) * saltBytes)
    const owed = readyOutbox(change, entropy)
    const head = chain.head
    const untimely = drafts.length > 0 || owed !== null ? timeProblem(nowMs, head) : null
    if (untimely !== null) return Effect.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
    const { conflicts, fates } = admit(change, {
      head,
      version: (collection, id) => documents.version(collection, id),
      uniqueHolder: (collection, key, value) => documents.uniqueHolder(collection, key, value),
      once: (scope, key) => chain.once(scope, key),
      part: (seq, name) => chain.partState(seq, name),
      delivery: (id) => outbox.stateOf(id),
      hasEvent: (id) => outbox.hasEvent(id)
    })
    if (conflicts.length > 0) return Effect.fail(new StorageConflict({ conflicts }))
    const isFresh = (_: unknown, index: number): boolean => fates[index]!._tag === "Fresh"
    const fresh = drafts.filter(isFresh)
    const committed = commitDrafts(portableCrypto, drafts, salts).filter(isFresh)
    const sealed = sealDrafts(portableCrypto, head, nowMs, committed)
    const receipt = files.transact(() => {
      documents.write((change.puts ?? []).map((put) => ({ put, json: JSON.stringify(put.body) })))
      documents.delete(change.deletes ?? [])
      sealed.forEach((record, index) => chain.append(record, fresh[index]!.once))
      const heads = sealed.map(({ record: { atMs, hash, seq } }) => ({ seq, hash: hash.slice(), atMs }))
      const receipt = receiptOf(head, fates, heads, (seq) => chain.record(seq)!)
      for (const { erasedBy, name, seq } of erasures(change, receipt)) chain.erase(seq, name, erasedBy)
      for (const { key, scope } of change.forget ?? []) chain.forget(scope, key)
      if (owed !== null) outbox.write(owed, isRepeat(fates), wanting, receipt.head, storeTimeMs(nowMs, head))
      return receipt
    })
    return Effect.succeed(receipt)
  }

  const now = <A>(run: (nowMs: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, run)

  return {
    backend: "directory",
    commit: (change) => Effect.flatMap(Clock.currentTimeMillis, (nowMs) => commit(change, nowMs)),
    asOf: now((nowMs) => ({ ms: plannedTimeMs(nowMs, chain.head), seq: chain.head?.seq ?? -1 })),
    head: Effect.sync(() => chain.head),
    get: (collection, id) =>
      Effect.sync(() => {
        const row = documents.get(collection, id)
        return row === null ? null : readDocument(row)
      }),
    find: (collection, key, value) => Effect.suspend(() => readDocuments(documents.find(collection, key, value))),
    list: (collection, page) =>
      Effect.suspend(() => readDocuments(documents.list(collection, page?.after, page?.limit))),
    record: (seq) => Effect.sync(() => chain.record(seq)),
    records: (query) => checked(queryProblem(query), () => chain.records(query)),
    parts: (seqs) =>
      checked(seqs.length > maxRows ? `The most seqs are ${maxRows}, not ${seqs.length}.` : null, () =>
        chain.parts(seqs)
      ),
    once: (scope, keys) =>
      Effect.sync(() =>
        [...new Set(keys)].flatMap((key) => {
          const taken = chain.once(scope, key)
          return taken === null ? [] : [{ key, seq: taken.seq, digest: taken.digest }]
        })
      ),
    onceKeys: (after, limit) => checked(limitProblem(limit), () => chain.onceKeys(after, limit)),
    hashes: (tileLevel, from, count) => Effect.sync(() => chain.hashes(tileLevel, from, count)),
    outbox: {
      claim: (request) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          invariant(claimProblem(request))
          const untimely = timeProblem(nowMs, chain.head)
          if (untimely !== null) return Effect.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
          const versionOf = (endpointId: string): number => documents.version(WEBHOOKS, endpointId)
          return Effect.succeed(files.transact(() => outbox.claim(request, storeTimeMs(nowMs, chain.head), versionOf)))
        }),
      delivery: (id) => Effect.sync(() => outbox.delivery(id)),
      deliveriesOf: (endpointId, page) =>
        checked(limitProblem(page.limit), () => outbox.deliveriesOf(endpointId, page)),
      event: (id) => Effect.sync(() => outbox.event(id)),
      events: (query) => checked(limitProblem(query.limit), () => outbox.events(query)),
      missed: (query) => checked(limitProblem(query.limit), () => outbox.missed(query)),
      forget: (request) => checked(forgetRequestProblem(request), () => files.transact(() => outbox.forget(request)))
    },
    lease: (name, holder, ttlMs) =>
      now((nowMs) => {
        const lease = files.get<{ readonly holder: string; readonly untilMs: number }>("lease", name)
        const isHeld = lease !== undefined && lease.holder !== holder && nowMs < lease.untilMs
        if (isHeld && lease.untilMs <= nowMs + 2 * ttlMs) return false
        files.transact(() => files.put("lease", name, { holder, untilMs: nowMs + ttlMs }))
        return true
      }),
    releaseLease: (name, holder) =>
      Effect.sync(() => {
        const lease = files.get<{ readonly holder: string }>("lease", name)
        if (lease?.holder === holder) files.transact(() => files.remove("lease", name))
      })
  }
}

const checked = <A>(problem: string | null, run: () => A): Effect.Effect<A> =>
  Effect.sync(() => {
    invariant(problem)
    return run()
  })

/** Dies with the sentence, if there is one. */
const invariant = (problem: string | null): void => {
  if (problem !== null) throw new Error(problem)
}
