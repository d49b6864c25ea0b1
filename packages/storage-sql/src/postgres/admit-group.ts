/** Admitting and sealing a group in memory, while its transaction holds the head. Pure but for the view it is given. */
import type { ChangeSet, CommitReceipt, Fate, Head, ReadFault } from "@flyball/core/storage"
import {
  admit,
  erasures,
  isRepeat,
  receiptOf,
  sealDrafts,
  StorageConflict,
  StorageUnavailable,
  storeTimeMs,
  timeProblem
} from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { Exit } from "effect"
import type { GroupView } from "./group-view.ts"
import type { PreparedChange } from "./prepare.ts"
import type { GroupRows, SealedRow } from "./writes.ts"

/** Result of one ChangeSet. A defect is a bug of its planner, and its own only. */
export type Answer = Exit.Exit<CommitReceipt, StorageConflict | ReadFault>

/** The answers of a group, true once its rows are durable. */
export interface AdmittedGroup {
  readonly answers: ReadonlyArray<Answer>
  readonly rows: Omit<GroupRows, "nodes">
}

/**
 * Admits the ChangeSets in order, each against what the ones before it will have written; refused ones leave no trace.
 *
 * The whole group gets one time: `nowMs`, or the head's where the clock stepped back.
 */
export const admitGroup = (
  crypto: Crypto,
  view: GroupView,
  nowMs: number,
  changes: ReadonlyArray<PreparedChange>
): AdmittedGroup => {
  const atMs = storeTimeMs(nowMs, view.head)
  view.atMs = atMs
  const rows: AdmittedGroup["rows"] = {
    sealed: [],
    puts: new Map(),
    deleted: new Map(),
    erased: [],
    forgotten: [],
    counts: new Map(),
    outbox: view.outbox,
    atMs
  }
  // Checked once: what a group seals has the time of the head or of the clock.
  const untimely = timeProblem(nowMs, view.head)
  const answers = changes.map((prepared): Answer => {
    if (untimely !== null && (prepared.drafts.length > 0 || prepared.outbox !== null)) {
      return Exit.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
    }
    const { conflicts, fates } = admit(prepared.change, view)
    if (conflicts.length > 0) return Exit.fail(new StorageConflict({ conflicts }))
    const before = view.head
    const sealed = sealFresh(crypto, before, atMs, prepared, fates)
    if (Exit.isFailure(sealed)) return Exit.failCause(sealed.cause)
    const made = sealed.value
    const last = made.at(-1)
    if (last !== undefined) view.head = { seq: last.seq, hash: last.hash, atMs: last.atMs }
    rows.sealed.push(...made)
    const receipt = receiptOf(before, fates, made, (seq) => view.headAt(seq))
    writeSealed(view, made)
    writePuts(view, rows, prepared)
    writeDeletes(view, rows, prepared.change.deletes ?? [])
    for (const part of erasures(prepared.change, receipt)) {
      view.knowPart(part.seq, part.name, "erased")
      rows.erased.push(part)
    }
    for (const once of prepared.change.forget ?? []) {
      view.forget(once.scope, once.key)
      rows.forgotten.push({ ...once, upTo: receipt.head.seq })
    }
    if (!isRepeat(fates))
      for (const { add, name } of prepared.change.counts ?? []) {
        view.knowCount(name, view.count(name) + add)
        rows.counts.set(name, view.count(name))
      }
    if (prepared.outbox !== null) view.outbox.write(prepared.outbox, isRepeat(fates), receipt.head, atMs, crypto.sha256)
    return Exit.succeed(receipt)
  })
  return { answers, rows }
}

/** Seals what is new of one ChangeSet. A draft that breaks the format is a bug of its planner, and its own only. */
const sealFresh = (
  crypto: Crypto,
  head: Head | null,
  atMs: number,
  { change, drafts }: PreparedChange,
  fates: ReadonlyArray<Fate>
): Exit.Exit<ReadonlyArray<SealedRow>> => {
  const isFresh = (_: unknown, index: number): boolean => fates[index]!._tag === "Fresh"
  const fresh = (change.records ?? []).filter(isFresh)
  try {
    const sealed = sealDrafts(crypto, head, atMs, drafts.filter(isFresh))
    return Exit.succeed(sealed.map(({ parts, record }, index) => ({ ...record, parts, once: fresh[index]!.once })))
  } catch (error) {
    return Exit.die(error)
  }
}

const writeSealed = (view: GroupView, sealed: ReadonlyArray<SealedRow>): void => {
  for (const { atMs, hash, once, parts, seq } of sealed) {
    if (once !== undefined) view.knowOnce(once.scope, once.key, once.digest, { seq, hash, atMs })
    for (const { name } of parts) view.knowPart(seq, name, "present")
  }
}

/** A document that several ChangeSets of the group put is written once, as the last one leaves it. */
const writePuts = (view: GroupView, rows: AdmittedGroup["rows"], { change, bodies }: PreparedChange): void => {
  const puts = change.puts ?? []
  view.write(puts)
  puts.forEach((put, index) => {
    const { collection, id } = put
    rows.puts.set(`${collection}\0${id}`, {
      put,
      body: bodies[index]!,
      version: view.version(collection, id),
      wasStored: view.isStored(collection, id)
    })
  })
}

/**
 * Applies deletes: drops the documents that the group put but has not written yet, and deletes those in the database.
 */
const writeDeletes = (
  view: GroupView,
  rows: AdmittedGroup["rows"],
  documents: NonNullable<ChangeSet["deletes"]>
): void => {
  view.delete(documents)
  for (const { collection, id } of documents) {
    rows.puts.delete(`${collection}\0${id}`)
    if (view.isStored(collection, id)) rows.deleted.set(`${collection}\0${id}`, { collection, id })
  }
}
