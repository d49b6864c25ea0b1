/** Finds the record of an evaluation by its id. */
import { isId } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { JsonMap } from "@flyball/rules"
import type { EvaluationRecord } from "./evaluation-out.ts"
import { EVALUATION_SCOPE } from "@flyball/rules"

/** An evaluation that was read back. */
export interface FoundEvaluation extends EvaluationRecord {
  /** Names of parts that were erased. */
  readonly erased: ReadonlyArray<string>
}

/** The record at a seq, with the parts that are left. */
export const readEvaluation = Effect.fnUntraced(function* (
  storage: StorageApi,
  seq: number
): Effect.fn.Return<FoundEvaluation, ReadFault> {
  const record = yield* storage.record(seq)
  const read = record === null ? null : readRecord(record.bytes)
  if (record === null || read === null || !read.ok || record.kind !== "evaluation.made")
    return yield* new StorageCorrupt({ reason: `record ${seq} is expected to be an evaluation that can be read` })
  const parts = yield* storage.parts([seq])
  return {
    seq,
    hash: record.hash,
    atMs: record.atMs,
    body: read.record.body as JsonMap,
    parts: new Map(parts.flatMap(({ bytes, name }) => (bytes === null ? [] : [[name, bytes]]))),
    erased: parts.flatMap(({ bytes, name }) => (bytes === null ? [name] : []))
  }
})

/** The evaluation of this id in this chain; null when there is none. */
export const findEvaluation = Effect.fnUntraced(function* (storage: StorageApi, id: string) {
  const [found] = isId("evaluation", id) ? yield* storage.once(EVALUATION_SCOPE, [id]) : []
  return found === undefined ? null : yield* readEvaluation(storage, found.seq)
})
