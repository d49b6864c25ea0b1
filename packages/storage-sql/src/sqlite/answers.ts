/** The storage worker's response to a batch: one answer per ChangeSet, in one buffer. */
import type { CommitReceipt, Conflict, Head, RecordReceipt } from "@flyball/core/storage"
import { PackReader, PackWriter } from "./packed.ts"

/** A fault as it crosses threads. `Defect` is a bug: a draft that breaks the format, or code of ours that threw. */
export type Fault =
  | { readonly _tag: "Unavailable"; readonly reason: string; readonly wrote: "no" | "unknown" }
  | { readonly _tag: "Corrupt"; readonly reason: string }
  | { readonly _tag: "Defect"; readonly reason: string }

/** Result of one ChangeSet. */
export type Answer =
  | { readonly _tag: "Committed"; readonly receipt: CommitReceipt }
  | { readonly _tag: "Refused"; readonly conflicts: ReadonlyArray<Conflict> }
  | { readonly _tag: "Failed"; readonly fault: Fault }

/** The answers to a batch. */
export interface BatchAnswer {
  readonly answers: ReadonlyArray<Answer>
  /** Whether the batch may have left a delivery that is not finished. */
  readonly hasDeliveries: boolean
}

/** Packs the answers to a batch into a buffer that can be transferred. */
export const packAnswers = ({ answers, hasDeliveries }: BatchAnswer): ArrayBuffer => {
  const out = new PackWriter(
    answers.reduce(
      (sum, answer) => sum + 64 + (answer._tag === "Committed" ? answer.receipt.records.length * 49 : 0),
      8
    )
  )
  out.u8(hasDeliveries ? 1 : 0)
  out.u32(answers.length)
  for (const answer of answers) {
    if (answer._tag === "Committed") {
      out.u8(0)
      packReceipt(out, answer.receipt)
    } else if (answer._tag === "Refused") {
      out.u8(1)
      out.text(JSON.stringify(answer.conflicts))
    } else {
      out.u8(2)
      out.text(JSON.stringify(answer.fault))
    }
  }
  return out.finish().buffer
}

/** Reads what {@link packAnswers} packed. Hashes are views of the buffer, which nobody else holds. */
export const readAnswers = (buffer: ArrayBuffer): BatchAnswer => {
  const from = new PackReader(buffer)
  const hasDeliveries = from.u8() === 1
  const answers: Array<Answer> = []
  const count = from.u32()
  for (let index = 0; index < count; index++) {
    const tag = from.u8()
    if (tag === 0) answers.push({ _tag: "Committed", receipt: readReceipt(from) })
    else if (tag === 1) answers.push({ _tag: "Refused", conflicts: JSON.parse(from.text()) as ReadonlyArray<Conflict> })
    else answers.push({ _tag: "Failed", fault: JSON.parse(from.text()) as Fault })
  }
  return { answers, hasDeliveries }
}

/** The head is nearly always the last record: then it is not written twice. */
const packReceipt = (out: PackWriter, { head, records }: CommitReceipt): void => {
  out.u32(records.length)
  for (const record of records) {
    packHead(out, record)
    out.u8(record.duplicate ? 1 : 0)
  }
  const isLast = records.at(-1)?.hash === head.hash
  out.u8(isLast ? 1 : 0)
  if (!isLast) packHead(out, head)
}

const readReceipt = (from: PackReader): CommitReceipt => {
  const records: Array<RecordReceipt> = []
  const count = from.u32()
  for (let index = 0; index < count; index++) {
    const { seq, hash, atMs } = readHead(from)
    records.push({ seq, hash, atMs, duplicate: from.u8() === 1 })
  }
  if (from.u8() === 0) return { records, head: readHead(from) }
  const { atMs, hash, seq } = records[records.length - 1]!
  return { records, head: { seq, hash, atMs } }
}

const packHead = (out: PackWriter, head: Head): void => {
  out.f64(head.seq)
  out.f64(head.atMs)
  out.raw(head.hash)
}

const readHead = (from: PackReader): Head => {
  const seq = from.f64()
  const atMs = from.f64()
  return { seq, hash: from.raw(32), atMs }
}
