/** Compares the table of idempotency keys with the records that took them. */
import { type Crypto, readRecord, type RecordView, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { readGenesis } from "../../chain/keys/genesis.ts"
import type { ReadFault, StorageApi, TakenKey } from "../../storage/port.ts"
import { type ExpectedIdempotencyKey, expectedIdempotencyKey, kindsWithContent } from "./expected-idempotency-key.ts"
import type { Difference } from "@flyball/rules"

/** Records read at a time, with their parts. */
const PAGE = 100
/** Keys listed at a time. */
const KEYS_PAGE = 1_000
/** Times of decisions that are remembered: most are settled soon. */
const KEPT_TIMES = 20_000
/** Differences that are reported, at most. A table that was emptied has one for each record. */
const MOST = 1_000

/** Result of the comparison. */
export interface IdempotencyReport {
  /** Keys that records took and that were looked up in the table. */
  readonly keys: number
  readonly differences: ReadonlyArray<Difference>
}

/** A record that took a key, and what the table says. */
interface Judged {
  readonly seq: number
  readonly expected: ExpectedIdempotencyKey
  readonly found: Omit<TakenKey, "scope" | "key"> | null
}

/**
 * Compares both ways: each record's key with its row, and each row with its record.
 *
 * At most 1,000 differences are reported. Others may write meanwhile: rows of records behind `to` are left out, and a
 * difference counts when a second read finds it too, because an erasure deletes a digest.
 *
 * - `keyDigest`: SHA-256 of an ingest key, as the records say.
 */
export const checkIdempotencyKeys = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  to: number,
  keyDigest: (keyId: string) => string | undefined
): Effect.fn.Return<IdempotencyReport, ReadFault> {
  const first = yield* storage.record(0)
  const genesis = first === null ? null : readGenesis(crypto, first)
  if (genesis === null || typeof genesis === "string") return { keys: 0, differences: [] }
  const originTag = crypto.sha256(utf8(genesis.origin)).slice(0, 4)
  const atMs = new Map<number, number>()
  const rotations = new Map<number, string>()
  const vkeyBefore = (seq: number): string | null =>
    [...rotations].findLast(([at]) => at < seq)?.[1] ?? genesis.vkeys.at(-1) ?? null

  /** The keys of these records, in order, with their rows of the table. */
  const judged = Effect.fnUntraced(function* (from: number, upTo: number) {
    const taken: Array<{ readonly seq: number; readonly expected: ExpectedIdempotencyKey }> = []
    const page = yield* storage.records({ from, to: upTo, limit: PAGE })
    const views = new Map<number, RecordView>()
    for (const record of page) {
      const read = readRecord(record.bytes)
      if (read.ok) views.set(record.seq, read.record)
      if (record.kind === "decision.witnessed") remember(atMs, record.seq, record.atMs)
    }
    const parts = yield* storage.parts(
      [...views.values()]
        .filter((view) => kindsWithContent.has(view.kind) && view.parts.length > 0)
        .map(({ seq }) => seq)
    )
    yield* learnTimes(storage, atMs, views)
    for (const [seq, view] of views) {
      const expected = expectedIdempotencyKey(
        crypto,
        view,
        parts.filter((part) => part.seq === seq),
        { originTag, atMsOf: (at) => atMs.get(at), vkey: vkeyBefore(seq), keyDigest }
      )
      if (expected !== null) taken.push({ seq, expected })
      if (view.kind === "key.rotated") rotations.set(seq, String(view.body["to_vkey"]))
    }
    const rows = yield* rowsOf(
      storage,
      taken.map(({ expected }) => expected)
    )
    return {
      judged: taken.map(({ expected, seq }): Judged => ({ seq, expected, found: rows.get(slotOf(expected)) ?? null })),
      next: (page.at(-1)?.seq ?? upTo) + 1
    }
  })

  let keys = 0
  let found = 0
  const suspects: Array<number> = []
  const mistaken = new Set<string>()
  for (let from = 0; from <= to;) {
    const { judged: all, next } = yield* judged(from, to)
    keys += all.length
    for (const one of all) {
      if (one.found !== null && one.found.seq <= to) found++
      if (differenceOf(one) === null) continue
      suspects.push(one.seq)
      mistaken.add(slotOf(one.expected))
      if (suspects.length === MOST) break
    }
    if (suspects.length === MOST) break
    from = next
  }
  const differences: Array<Difference> = []
  for (const seq of suspects) {
    const {
      judged: [one]
    } = yield* judged(seq, seq)
    const difference = one === undefined ? null : differenceOf(one)
    if (difference !== null) differences.push(difference)
  }
  if (suspects.length < MOST)
    differences.push(
      ...(yield* rowsWithoutRecord(storage, {
        to,
        found,
        mistaken,
        expectedAt: (seq) => Effect.map(judged(seq, seq), ({ judged: [one] }) => one?.expected ?? null)
      }))
    )
  return { keys, differences }
})

const slotOf = ({ key, scope }: Pick<TakenKey, "scope" | "key">): string => `${scope}\0${key}`

const remember = (times: Map<number, number>, seq: number, atMs: number): void => {
  if (times.size >= KEPT_TIMES) times.delete(times.keys().next().value!)
  times.set(seq, atMs)
}

/** Reads the times of decisions that were settled long after. */
const learnTimes = Effect.fnUntraced(function* (
  storage: StorageApi,
  times: Map<number, number>,
  views: ReadonlyMap<number, RecordView>
) {
  for (const { body, kind } of views.values()) {
    const seq = Number(body["decision_seq"])
    if (kind !== "decision.settled" || times.has(seq)) continue
    const record = yield* storage.record(seq)
    if (record !== null) remember(times, seq, record.atMs)
  }
})

const rowsOf = Effect.fnUntraced(function* (storage: StorageApi, expected: ReadonlyArray<ExpectedIdempotencyKey>) {
  const byScope = new Map<string, Array<string>>()
  for (const { key, scope } of expected) {
    const keys = byScope.get(scope)
    if (keys === undefined) byScope.set(scope, [key])
    else keys.push(key)
  }
  const rows = new Map<string, Omit<TakenKey, "scope" | "key">>()
  for (const [scope, keys] of byScope) {
    for (const { digest, key, seq } of yield* storage.once(scope, keys))
      rows.set(slotOf({ scope, key }), { seq, digest })
  }
  return rows
})

/** Describes the difference between a row and its record; numbers are the only values shown. */
const differenceOf = ({ expected, found, seq }: Judged): Difference | null => {
  const at = { collection: KEYS_COLLECTION, id: String(seq) }
  if (found === null) return { ...at, path: "", expected: "an idempotency key", found: "no row" }
  if (found.seq !== seq) return { ...at, path: "/seq", expected: String(seq), found: String(found.seq) }
  if (expected.digest === undefined || expected.digest === found.digest) return null
  return {
    ...at,
    path: "/digest",
    expected: expected.digest === null ? "none: a part of the record was erased" : "the digest of the request",
    found: found.digest === null ? "none" : expected.digest === null ? "a digest" : "another digest"
  }
}

/** The collection that differences of the table are reported under; the id is a record's number. */
export const KEYS_COLLECTION = "once"

interface Rows {
  readonly to: number
  /** Rows that records up to `to` account for. */
  readonly found: number
  /** Keys whose rows are reported already. */
  readonly mistaken: ReadonlySet<string>
  readonly expectedAt: (seq: number) => Effect.Effect<ExpectedIdempotencyKey | null, ReadFault>
}

/** Rows that no record explains. Rows are counted first; each is compared with its record where there are too many. */
const rowsWithoutRecord = Effect.fnUntraced(function* (
  storage: StorageApi,
  { expectedAt, found, mistaken, to }: Rows
): Effect.fn.Return<ReadonlyArray<Difference>, ReadFault> {
  const differences: Array<Difference> = []
  const extra = (row: TakenKey): void => {
    differences.push({
      collection: KEYS_COLLECTION,
      id: String(row.seq),
      path: "",
      expected: "no row of this key",
      found: "a row"
    })
  }
  let rows = 0
  const behind: Array<TakenKey> = []
  yield* eachKey(storage, (row) =>
    Effect.sync(() => {
      if (row.seq <= to) rows++
      else if (!mistaken.has(slotOf(row))) behind.push(row)
    })
  )
  const head = (yield* storage.head)?.seq ?? -1
  // A row is written with its record.
  behind.filter((row) => row.seq > head).forEach(extra)
  if (rows <= found) return differences
  yield* eachKey(
    storage,
    Effect.fnUntraced(function* (row) {
      if (row.seq > to || mistaken.has(slotOf(row)) || differences.length >= MOST) return
      const expected = yield* expectedAt(row.seq)
      if (expected === null || slotOf(expected) !== slotOf(row)) extra(row)
    })
  )
  return differences
})

const eachKey = Effect.fnUntraced(function* (
  storage: StorageApi,
  use: (row: TakenKey) => Effect.Effect<void, ReadFault>
): Effect.fn.Return<void, ReadFault> {
  for (let after: TakenKey | null = null; ;) {
    const page: ReadonlyArray<TakenKey> = yield* storage.idempotencyKeys(after, KEYS_PAGE)
    for (const row of page) yield* use(row)
    if (page.length < KEYS_PAGE) return
    after = page.at(-1)!
  }
})
