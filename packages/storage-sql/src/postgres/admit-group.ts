/** Admitting and sealing a group in memory, while its transaction holds the head. Pure but for the view it is given. */
import type { ChangeSet, CommitReceipt, ReadFault } from "@flyball/core/storage"
import {
  admit,
  emptyHead,
  erasures,
  isRepeat,
  receiptOf,
  StorageConflict,
  StorageUnavailable,
  storeTimeMs,
  timeProblem
} from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { Exit } from "effect"
import type { GroupView } from "./group-view.ts"
import type { PreparedChange } from "./prepare.ts"
import { sealPrepared, sizeProblem } from "./seal.ts"
import type { GroupRows } from "./writes.ts"

/** What becomes of one ChangeSet. A defect is a bug of its planner, and its own only. */
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
  const rows: AdmittedGroup["rows"] = {
    sealed: [],
    puts: new Map(),
    deleted: new Map(),
    erased: [],
    forgotten: [],
    outbox: view.outbox,
    atMs
  }
  // Asked once: what a group seals has the time of the head or of the clock.
  const untimely = timeProblem(nowMs, view.head)
  const answers = changes.map((prepared): Answer => {
    if (untimely !== null && (prepared.drafts.length > 0 || prepared.outbox !== null))
      return Exit.fail(new StorageUnavailable({ reason: untimely, wrote: "no" }))
    const { conflicts, fates } = admit(prepared.change, view)
    if (conflicts.length > 0) return Exit.fail(new StorageConflict({ conflicts }))
    const fresh = prepared.drafts.filter((_, index) => fates[index]!._tag === "Fresh")
    const problem = firstProblem(fresh.map((draft, index) => sizeProblem(draft, (view.head?.seq ?? -1) + 1 + index)))
    if (problem !== null) return Exit.die(new Error(problem))

    const before = view.head
    const sealed = fresh.map((draft) => {
      const made = sealPrepared(crypto, view.head ?? emptyHead(), atMs, draft)
      view.head = { seq: made.seq, hash: made.hash, atMs }
      rows.sealed.push(made)
      return made
    })
    const receipt = receiptOf(before, fates, sealed, (seq) => view.headAt(seq))
    writeSealed(view, sealed)
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
    if (prepared.outbox !== null) view.outbox.write(prepared.outbox, isRepeat(fates), receipt.head, atMs, crypto.sha256)
    return Exit.succeed(receipt)
  })
  return { answers, rows }
}

const firstProblem = (problems: ReadonlyArray<string | null>): string | null =>
  problems.find((problem) => problem !== null) ?? null

const writeSealed = (view: GroupView, sealed: GroupRows["sealed"]): void => {
  for (const {
    seq,
    hash,
    atMs,
    prepared: { draft, parts }
  } of sealed) {
    if (draft.once !== undefined)
      view.knowOnce(draft.once.scope, draft.once.key, draft.once.digest, { seq, hash, atMs })
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

/** What the group itself had put goes before it is written; what the database holds is deleted. */
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
