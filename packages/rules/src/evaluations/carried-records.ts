/**
 * Records of retired chains, as the chain after them counts: before its own first one. Decision 0010.
 */
import type { JsonMap } from "../records/record.ts"

/** The members by which a record refers to another record of its chain, by kind. */
const references: { readonly [kind: string]: ReadonlyArray<string> } = {
  "evaluation.made": ["as_of_seq"],
  "decision.settled": ["evaluation_seq"],
  "meter.voided": ["evaluation_seq"],
  "part.erased": ["seq"]
}

/**
 * The record with its number, and the numbers of records that it names, moved down by `before`: the number of records
 * between the first record of its chain and record 0 of the chain that continues it. Numbers rise across all chains,
 * and each occurs once. Spec: decision 0010.
 */
export const numberedBefore = <R extends { readonly seq: number; readonly kind: string; readonly body: JsonMap }>(
  record: R,
  before: number
): R => {
  if (before === 0) return record
  const moved = (references[record.kind] ?? []).flatMap((name) => {
    const seq = record.body[name]
    return typeof seq === "number" ? [[name, seq - before] as const] : []
  })
  return {
    ...record,
    seq: record.seq - before,
    body: moved.length === 0 ? record.body : { ...record.body, ...Object.fromEntries(moved) }
  }
}
