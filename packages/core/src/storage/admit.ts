/**
 * Decides whether a ChangeSet may be written: the rules of `commit`. Pure, and the same for every backend.
 *
 * A backend with cheap look-ups (memory, SQLite) passes a view of its tables. Another one (Postgres) first reads what a
 * group needs, and passes a view of maps. Each ChangeSet of a group is admitted against the writes of those admitted
 * before it.
 */
import type { Conflict } from "./faults.ts"
import type { ChangeSet, CommitReceipt, DocumentPut, Head, RecordDraft, RecordReceipt } from "./port.ts"
import { outboxConflicts, type OutboxView } from "./outbox/rules.ts"
import { emptyHead } from "./seal.ts"

/**
 * The members of a ChangeSet that change documents, each of which must have the version that the member names. Every
 * backend checks them, carries them to its writer and reads their versions by this list.
 */
export const documentActs = ["deletes"] as const

/** One of {@link documentActs}. */
export type DocumentAct = (typeof documentActs)[number]

/** The members of a ChangeSet that {@link admit} reads. A thread that holds no bodies can still provide them. */
export interface AdmissibleChange extends Pick<
  ChangeSet,
  DocumentAct | "again" | "counts" | "erase" | "expectEmpty" | "expectNew" | "expects" | "moves" | "sealBeforeMs"
> {
  readonly puts?: ReadonlyArray<Pick<DocumentPut, "collection" | "id" | "expectedVersion" | "unique">>
  readonly records?: ReadonlyArray<Pick<RecordDraft, "kind" | "once">>
}

/** The state that {@link admit} reads. */
export interface StoreView extends OutboxView {
  readonly head: Head | null
  /** The time that records are sealed at now, see `storeTimeMs`. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
  /** The document's version; 0 for a document that does not exist. */
  readonly version: (collection: string, id: string) => number
  /** The id of the document that holds this unique value. */
  readonly uniqueHolder: (collection: string, key: string, value: string) => string | null
  /** A null digest is an erased one: every content then counts as equal. */
  readonly once: (scope: string, key: string) => { readonly seq: number; readonly digest: string | null } | null
  readonly part: (seq: number, name: string) => "present" | "erased" | "missing"
  /** The value of a counter; 0 for one that nothing was added to. */
  readonly count: (name: string) => number
}

/** The outcome for one draft: it is sealed, or it repeats a stored record, or an earlier draft of its ChangeSet. */
export type Fate =
  | { readonly _tag: "Fresh" }
  | { readonly _tag: "Stored"; readonly seq: number }
  | { readonly _tag: "Repeat"; readonly index: number }

/**
 * Result of {@link admit}: one fate per draft, in order, or the conflicts. A ChangeSet with a conflict writes
 * nothing.
 */
export interface Admission {
  readonly conflicts: ReadonlyArray<Conflict>
  readonly fates: ReadonlyArray<Fate>
}

/**
 * Checks a ChangeSet against a store. Conflicts come in this order: chain empty or not, too late, `expects`, `puts`,
 * {@link documentActs}, unique keys, idempotency keys by index, parts, counters, deliveries, events.
 *
 * - Unique keys are checked against the state after all puts: a value that one put frees, another may take.
 * - An idempotency key is looked up in the store first, then among the earlier drafts. A conflict with an earlier draft
 *   has seq -1, because that draft has no seq yet.
 */
export const admit = (change: AdmissibleChange, view: StoreView): Admission => {
  const conflicts: Array<Conflict> = []
  const records = change.records ?? []
  if (change.expectEmpty === true && view.head !== null) conflicts.push({ _tag: "NotEmpty" })
  if (view.head === null && records.length > 0 && records[0]?.kind !== "chain.genesis")
    conflicts.push({ _tag: "Empty" })
  if (change.sealBeforeMs !== undefined && view.atMs >= change.sealBeforeMs)
    conflicts.push({ _tag: "Late", beforeMs: change.sealBeforeMs, atMs: view.atMs })
  for (const { collection, id, version } of change.expects ?? [])
    versionConflict(conflicts, view, collection, id, version)
  for (const { collection, id, expectedVersion } of change.puts ?? [])
    if (expectedVersion !== null) versionConflict(conflicts, view, collection, id, expectedVersion)
  for (const act of documentActs)
    for (const { collection, id, version } of change[act] ?? [])
      versionConflict(conflicts, view, collection, id, version)
  uniqueConflicts(conflicts, change, view)
  const fates = idempotencyFates(conflicts, records, view, change.expectNew === true)
  for (const { seq, name } of change.erase ?? []) {
    const found = view.part(seq, name)
    if (found !== "present") conflicts.push({ _tag: "Part", seq, name, found })
  }
  if (change.counts !== undefined && !isRepeat(fates))
    for (const { add, atMost = Number.POSITIVE_INFINITY, name } of change.counts) {
      const value = view.count(name)
      if (add > 0 && value + add > atMost) conflicts.push({ _tag: "Count", name, value, atMost })
    }
  if (change.moves !== undefined || change.again !== undefined) conflicts.push(...outboxConflicts(change, view))
  return { conflicts, fates }
}

const versionConflict = (
  conflicts: Array<Conflict>,
  view: StoreView,
  collection: string,
  id: string,
  expected: number
): void => {
  const found = view.version(collection, id)
  if (found !== expected) conflicts.push({ _tag: "Version", collection, id, expected, found })
}

const uniqueConflicts = (conflicts: Array<Conflict>, change: AdmissibleChange, view: StoreView): void => {
  const puts = change.puts ?? []
  if (!puts.some((put) => put.unique !== undefined)) return
  const put = new Set(puts.map(({ collection, id }) => `${collection}\0${id}`))
  const taken = new Map<string, string>()
  for (const { collection, id, unique } of puts) {
    for (const [key, value] of Object.entries(unique ?? {})) {
      const slot = `${collection}\0${key}\0${value}`
      const stored = view.uniqueHolder(collection, key, value)
      const holder = taken.get(slot) ?? (stored !== null && !put.has(`${collection}\0${stored}`) ? stored : null)
      if (holder === null) taken.set(slot, id)
      else conflicts.push({ _tag: "Unique", collection, key, value, id: holder })
    }
  }
}

const fresh: Fate = { _tag: "Fresh" }

const idempotencyFates = (
  conflicts: Array<Conflict>,
  records: NonNullable<AdmissibleChange["records"]>,
  view: StoreView,
  mustBeNew: boolean
): ReadonlyArray<Fate> => {
  const earlier = new Map<string, { readonly index: number; readonly digest: string }>()
  return records.map(({ once }, index) => {
    if (once === undefined) return fresh
    const slot = `${once.scope}\0${once.key}`
    const stored = view.once(once.scope, once.key)
    const first = earlier.get(slot)
    const seen = stored ?? first
    if (seen === undefined) earlier.set(slot, { index, digest: once.digest })
    else if (mustBeNew || (seen.digest !== null && seen.digest !== once.digest))
      conflicts.push({ _tag: "IdempotencyKey", index, scope: once.scope, key: once.key, seq: stored?.seq ?? -1 })
    if (stored !== null) return { _tag: "Stored", seq: stored.seq }
    return first === undefined ? fresh : { _tag: "Repeat", index: first.index }
  })
}

/** Reports whether every draft of a ChangeSet repeats a sealed record. Its events were emitted the first time. */
export const isRepeat = (fates: ReadonlyArray<Fate>): boolean =>
  fates.length > 0 && fates.every(({ _tag }) => _tag !== "Fresh")

/**
 * Builds one receipt per draft. `sealed` holds the receipts of the fresh drafts, in order; `stored` reads the others.
 * Spec: decision 0002.
 */
export const receiptOf = (
  before: Head | null,
  fates: ReadonlyArray<Fate>,
  sealed: ReadonlyArray<Head>,
  stored: (seq: number) => Head
): CommitReceipt => {
  const records: Array<RecordReceipt> = []
  let used = 0
  for (const fate of fates) {
    const at =
      fate._tag === "Fresh" ? sealed[used++]! : fate._tag === "Stored" ? stored(fate.seq) : records[fate.index]!
    records.push({ seq: at.seq, hash: at.hash, atMs: at.atMs, duplicate: fate._tag !== "Fresh" })
  }
  const last = sealed.at(-1)
  return {
    records,
    head: last === undefined ? (before ?? emptyHead()) : { seq: last.seq, hash: last.hash, atMs: last.atMs }
  }
}

/** Finds the record that erases each part of `change.erase`: the last `part.erased` draft that names the part. */
export const erasures = (
  change: ChangeSet,
  receipt: CommitReceipt
): ReadonlyArray<{ readonly seq: number; readonly name: string; readonly erasedBy: number }> =>
  (change.erase ?? []).map(({ seq, name }) => {
    const index = (change.records ?? []).findLastIndex(
      (draft) => draft.kind === "part.erased" && draft.body["seq"] === seq && draft.body["name"] === name
    )
    return { seq, name, erasedBy: receipt.records[index]!.seq }
  })
