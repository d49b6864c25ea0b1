/** The ports of a governor, with something around each call: a fault, a delay, a note. */
import { Guard, type GuardApi, Signer, type SignerApi, type SigningKey } from "@flyball/core"
import { Storage, type StorageApi, type StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import { type FaultBoard, type FaultPoint, underFault } from "./fault.ts"

/** Wrapper of each call of a port. */
export type Around = <A, E>(point: FaultPoint, call: Effect.Effect<A, E>) => Effect.Effect<A, E | StorageUnavailable>

/** Wraps a storage, with `around` around each call: `storage.commit`, `storage.get` and so on. */
export const aroundStorage = (storage: StorageApi, around: Around): StorageApi =>
  Storage.of({
    backend: storage.backend,
    commit: (change) => around("storage.commit", storage.commit(change)),
    asOf: around("storage.asOf", storage.asOf),
    head: around("storage.head", storage.head),
    get: (collection, id) => around("storage.get", storage.get(collection, id)),
    find: (collection, key, value) => around("storage.find", storage.find(collection, key, value)),
    range: (collection, key, range) => around("storage.range", storage.range(collection, key, range)),
    list: (collection, page) => around("storage.list", storage.list(collection, page)),
    record: (seq) => around("storage.record", storage.record(seq)),
    records: (query) => around("storage.records", storage.records(query)),
    parts: (seqs) => around("storage.parts", storage.parts(seqs)),
    once: (scope, keys) => around("storage.once", storage.once(scope, keys)),
    idempotencyKeys: (after, limit) => around("storage.idempotencyKeys", storage.idempotencyKeys(after, limit)),
    hashes: (tileLevel, from, count) => around("storage.hashes", storage.hashes(tileLevel, from, count)),
    ...(storage.rehash === undefined
      ? {}
      : { rehash: (previous, to) => around("storage.rehash", storage.rehash!(previous, to)) }),
    counters: (names) => around("storage.counters", storage.counters(names)),
    limits: {
      shared: storage.limits.shared,
      take: (requests) => around("storage.limits.take", storage.limits.take(requests))
    },
    outbox: {
      claim: (request) => around("storage.outbox.claim", storage.outbox.claim(request)),
      delivery: (id) => around("storage.outbox.delivery", storage.outbox.delivery(id)),
      deliveriesOf: (endpointId, page) =>
        around("storage.outbox.deliveriesOf", storage.outbox.deliveriesOf(endpointId, page)),
      event: (id) => around("storage.outbox.event", storage.outbox.event(id)),
      events: (query) => around("storage.outbox.events", storage.outbox.events(query)),
      owned: (query) => around("storage.outbox.owned", storage.outbox.owned(query)),
      missed: (query) => around("storage.outbox.missed", storage.outbox.missed(query)),
      forget: (request) => around("storage.outbox.forget", storage.outbox.forget(request))
    },
    lease: (name, holder, ttlMs) => around("storage.lease", storage.lease(name, holder, ttlMs)),
    releaseLease: (name, holder) => around("storage.releaseLease", storage.releaseLease(name, holder))
  })

/**
 * Wraps a guard, with `around` around each call: `guard.read`, `guard.advance`, and `guard.inDoubt` where it can be in
 * doubt.
 */
export const aroundGuard = (guard: GuardApi, around: Around): GuardApi =>
  Guard.of({
    read: around("guard.read", guard.read),
    advance: (from, to) => around("guard.advance", guard.advance(from, to)),
    ...(guard.inDoubt === undefined ? {} : { inDoubt: around("guard.inDoubt", guard.inDoubt) }),
    ...(guard.mayBegin === undefined ? {} : { mayBegin: around("guard.mayBegin", guard.mayBegin) })
  })

/**
 * Wraps a signer, with `around` around each call: `signer.sign`, by whichever key, and `signer.keys`, `signer.prepare`
 * and `signer.promote` where it can rotate.
 */
export const aroundSigner = (signer: SignerApi, around: Around): SignerApi => {
  const { rotation } = signer
  const aroundKey = (key: SigningKey): SigningKey => ({
    ...key,
    sign: (message) => around("signer.sign", key.sign(message))
  })
  return Signer.of({
    ...signer,
    sign: aroundKey(signer).sign,
    ...(rotation === undefined
      ? {}
      : {
          rotation: {
            keys: Effect.map(around("signer.keys", rotation.keys), ({ current, next }) => ({
              current: aroundKey(current),
              next: next === null ? null : aroundKey(next)
            })),
            prepare: around("signer.prepare", rotation.prepare),
            promote: (publicKey) => around("signer.promote", rotation.promote(publicKey))
          }
        })
  })
}

const faulty =
  (board: FaultBoard): Around =>
  (point, call) =>
    underFault(board, point, call)

/** Puts a storage under the board's plan. */
export const faultyStorage = (storage: StorageApi, board: FaultBoard): StorageApi =>
  aroundStorage(storage, faulty(board))

/** Puts a guard under the board's plan. */
export const faultyGuard = (guard: GuardApi, board: FaultBoard): GuardApi => aroundGuard(guard, faulty(board))

/** Puts a signer under the board's plan. */
export const faultySigner = (signer: SignerApi, board: FaultBoard): SignerApi => aroundSigner(signer, faulty(board))
