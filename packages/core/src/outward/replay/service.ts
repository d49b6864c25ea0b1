/**
 * The replay checker: folds the stored records and compares the documents with what they say. Spec: design section 3.
 */
import type { Crypto } from "@flyball/evidence"
import { Context, Effect, Layer, Stream } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import {
  compareDocument,
  emptyReplay,
  foldRecord,
  governedCollections,
  References,
  type ReplayState
} from "@flyball/rules"
import { type RetiredChain, retiredChainsOf } from "../../chain/retired-chains.ts"
import { withRetired } from "../../chain/with-retired.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { RetiredStores } from "../../storage/retirement.ts"
import { checkIdempotencyKeys } from "./check-idempotency-keys.ts"
import { readRecords } from "./read-records.ts"
import type { ReplayReport } from "./report.ts"
import type { Difference, ExpectedDocument } from "@flyball/rules"

/**
 * Times the documents are compared while others write.
 *
 * - Unit: rounds. A document may be newer than the records folded so far; the next round folds those too. What two
 *   rounds in a row report is a difference.
 */
const MAX_ROUNDS = 5

/** Stored data that no record determines and this check does not cover. */
const UNCOVERED: ReadonlyArray<string> = [
  "working state: events and deliveries, secrets and letters of webhooks, checkpoints, windows of meters",
  "working state: latches, leases, requests for packs, last use of keys, settings",
  "look-up keys of documents that several may share",
  "documents and idempotency keys of retired chains",
  "digests of idempotency keys whose record misses a part"
]

/** Service that compares documents with the records. Spec: design section 3. */
export class Replay extends Context.Service<Replay, { readonly check: Effect.Effect<ReplayReport, ReadFault> }>()(
  "flyball/core/Replay"
) {
  static readonly layer: Layer.Layer<Replay, never, Storage> = Layer.effect(
    Replay,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const retired = Effect.flatMap(yield* RetiredStores, retiredChainsOf)
      return Replay.of({ check: Effect.suspend(() => check(storage, crypto, retired)) })
    })
  )
}

const check = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  retired: Effect.Effect<ReadonlyArray<RetiredChain>, ReadFault>
): Effect.fn.Return<ReplayReport, ReadFault> {
  const state = emptyReplay()
  const fromRecords: Array<Difference> = []
  const before = yield* foldRetired(retired, crypto, state, fromRecords)
  let folded = -1
  let differences: ReadonlyArray<Difference> = []
  let documents = 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const head = (yield* storage.head)?.seq ?? -1
    yield* readRecords(
      storage,
      crypto,
      { from: folded + 1, to: head },
      (record) => foldRecord(state, record),
      (one) => fromRecords.push(one)
    )
    folded = head
    const compared = yield* compareAll(storage, state)
    const still = ((yield* storage.head)?.seq ?? -1) === head
    differences = still || round === 0 ? compared.differences : persisting(differences, compared.differences)
    documents = compared.documents
    if (still || differences.length === 0) break
  }
  const once = yield* checkIdempotencyKeys(storage, crypto, folded, (keyId) => keyDigestOf(state, keyId))
  const all = [...fromRecords, ...state.differences, ...differences, ...once.differences]
  return {
    ok: all.length === 0,
    records: before + folded + 1,
    documents,
    idempotencyKeys: once.keys,
    differences: all,
    withheld: withheldOf(state),
    agents: state.counts,
    uncovered: UNCOVERED
  }
})

const keyDigestOf = (state: ReplayState, keyId: string): string | undefined => {
  const { documents } = state
  const key = documents.get("ingest_keys")?.get(keyId) ?? documents.get("platform_keys")?.get(keyId)
  const digest = key?.body["digest"]
  return typeof digest === "string" ? digest : undefined
}

/**
 * Folds the records of the chains before this one, oldest first: the documents were carried over from them. Answers how
 * many there were.
 */
const foldRetired = Effect.fnUntraced(function* (
  retired: Effect.Effect<ReadonlyArray<RetiredChain>, ReadFault>,
  crypto: Crypto,
  state: ReplayState,
  differences: Array<Difference>
): Effect.fn.Return<number, ReadFault> {
  const chains = yield* retired
  for (const { origin, size, storage } of chains) {
    const report = (one: Difference): void => void differences.push({ ...one, id: `${one.id} of ${origin}` })
    state.references = new References(0)
    yield* withRetired(storage, (open) =>
      readRecords(open, crypto, { from: 0, to: size - 1 }, (record) => foldRecord(state, record), report)
    )
  }
  state.references = new References(0)
  return chains.reduce((sum, { size }) => sum + size, 0)
})

const compareAll = Effect.fnUntraced(function* (storage: StorageApi, state: ReplayState) {
  const differences: Array<Difference> = []
  let documents = 0
  for (const collection of governedCollections) {
    const missing = new Map(state.documents.get(collection))
    yield* Stream.runForEach(
      documentPages(storage, collection),
      Effect.fnUntraced(function* (page) {
        for (const document of page) {
          const expected = missing.get(document.id) ?? null
          differences.push(...compareDocument(expected, document))
          if (expected !== null) differences.push(...(yield* compareLookUp(storage, expected)))
          missing.delete(document.id)
        }
        documents += page.length
      })
    )
    for (const expected of missing.values()) differences.push(...compareDocument(expected, null))
  }
  return { differences, documents }
})

/** A document that cannot be found by its unique key, or shares it, would let a second one of the same name in. */
const compareLookUp = Effect.fnUntraced(function* (storage: StorageApi, expected: ExpectedDocument) {
  const differences: Array<Difference> = []
  for (const [key, value] of Object.entries(expected.unique)) {
    const found = (yield* storage.find(expected.collection, key, value)).map((document) => document.id)
    if (found.length === 1 && found[0] === expected.id) continue
    differences.push({
      collection: expected.collection,
      id: expected.id,
      path: `/unique/${key}`,
      expected: expected.id,
      found: found.length === 0 ? "nothing" : found.join(", ")
    })
  }
  return differences
})

const persisting = (before: ReadonlyArray<Difference>, now: ReadonlyArray<Difference>): ReadonlyArray<Difference> => {
  const seen = new Set(before.map((one) => JSON.stringify(one)))
  return now.filter((one) => seen.has(JSON.stringify(one)))
}

const withheldOf = (state: ReplayState) =>
  [...state.documents.values()].flatMap((documents) =>
    [...documents.values()].flatMap(({ collection, id, erased }) =>
      erased.map((name) => ({ collection, id, path: `/${name}` }))
    )
  )
