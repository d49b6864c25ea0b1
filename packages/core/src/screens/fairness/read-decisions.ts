/** Reads the decisions of a window as a screen counts them. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { decisionId, readRecord, type RecordView } from "@flyball/evidence"
import { EVALUATION_SCOPE, MAX_SCREENED, type PartContent, type ScreenedDecision, type Screening } from "@flyball/rules"
import { Effect } from "effect"
import { inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { SETTLE_SCOPE } from "../../verdicts/capture/plan-settle.ts"

/** Records read at a time. */
const PAGE = 1_000
/** Decisions whose parts are in memory at a time: a record may have four of a mebibyte. */
const PARTS_AT_ONCE = 32
/** Outcomes read at once: they lie anywhere in the chain, one read each. */
const AT_ONCE = 16

/** A window before its decisions are read. `from` null: from the newest {@link MAX_SCREENED} on. */
export interface WindowBounds {
  readonly agentIds: ReadonlyArray<string>
  readonly from: number | null
  readonly to: number
}

/**
 * The seqs of the decisions of a window, by agent, newest first.
 *
 * - Fails: `InvalidInput` where a window that states its begin has more than {@link MAX_SCREENED}.
 */
export const decisionsWithin = Effect.fnUntraced(function* (
  storage: StorageApi,
  { agentIds, from, to: last }: WindowBounds
): Effect.fn.Return<ReadonlyArray<number>, InvalidInput | ReadFault> {
  const found: Array<number> = []
  for (const agentId of agentIds)
    for (let to = last; to >= (from ?? 0);) {
      const page = yield* storage.records({
        agentId,
        kinds: ["decision.witnessed"],
        from: from ?? 0,
        to,
        order: "desc",
        limit: PAGE
      })
      for (const { seq } of page) found.push(seq)
      if (found.length > MAX_SCREENED && from !== null)
        return yield* new InvalidInput({
          detail: [
            detailItem(
              ["body", "from_seq"],
              "value_error",
              `The window has more than ${MAX_SCREENED} decisions; begin it later`,
              from
            )
          ]
        })
      if (page.length < PAGE || (from === null && found.length >= MAX_SCREENED)) break
      to = page.at(-1)!.seq - 1
      yield* Effect.yieldNow
    }
  return found.slice(0, MAX_SCREENED)
})

/** The facts of a decision that are read beside its record. */
interface Reading {
  readonly originTag: Uint8Array
  readonly action: string | null
  readonly asOfSeq: number
  readonly source: "labels" | "evaluation" | "status"
}

/**
 * Hands the decisions at these seqs to a screening. False where labels were erased behind `asOfSeq`: the window is to
 * be read again.
 */
export const screenEach = Effect.fnUntraced(function* (
  storage: StorageApi,
  seqs: ReadonlyArray<number>,
  screening: Screening,
  { action, asOfSeq, originTag, source }: Reading
): Effect.fn.Return<boolean, ReadFault> {
  let isCurrent = true
  for (let at = 0; at < seqs.length; at += PARTS_AT_ONCE) {
    const some = seqs.slice(at, at + PARTS_AT_ONCE)
    const decisions = (yield* Effect.forEach(some, (seq) => readAt(storage, seq), { concurrency: AT_ONCE })).filter(
      ({ view }) => action === null || view.body["action"] === action
    )
    if (decisions.length === 0) continue
    const parts = yield* storage.parts(decisions.map(({ view }) => view.seq))
    const labels = new Map<number, PartContent>()
    for (const { bytes, erasedBy, name, seq } of parts) {
      if (name !== "labels") continue
      labels.set(seq, bytes === null ? { state: "erased" } : { state: "present", bytes })
      if (erasedBy !== null && erasedBy > asOfSeq) isCurrent = false
    }
    const outcomes = yield* outcomesOf(storage, decisions, source, originTag, asOfSeq)
    yield* inTurns(decisions, ({ view }) => {
      const outcome = outcomes.get(view.seq)
      const one: ScreenedDecision = {
        labels: labels.get(view.seq),
        status: source === "status" ? (outcome ?? String(view.body["status"])) : "",
        evaluated: source === "evaluation" ? (outcome ?? null) : null
      }
      screening.take(one)
    })
  }
  return isCurrent
})

interface ReadDecision {
  readonly record: StoredRecord
  readonly view: RecordView
}

const readAt = Effect.fnUntraced(function* (storage: StorageApi, seq: number) {
  const record = yield* storage.record(seq)
  const read = record === null ? null : readRecord(record.bytes)
  if (record === null || read === null || !read.ok)
    return yield* new StorageCorrupt({ reason: `record ${seq} is expected to be there and to be read` })
  return { record, view: read.record } satisfies ReadDecision
})

/** By seq of a decision: the status of its settlement, or the outcome of its evaluation, as of a record. */
const outcomesOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  decisions: ReadonlyArray<ReadDecision>,
  source: Reading["source"],
  originTag: Uint8Array,
  asOfSeq: number
): Effect.fn.Return<ReadonlyMap<number, string>, ReadFault> {
  if (source === "labels") return new Map()
  const [scope, member] = source === "status" ? [SETTLE_SCOPE, "status"] : [EVALUATION_SCOPE, "outcome"]
  const keys = new Map(
    decisions.flatMap(({ record: { atMs, seq }, view: { body } }) => {
      if (source === "status") return [[seq, decisionId(atMs, seq, originTag)] as const]
      const id = body["evaluation_id"]
      return typeof id === "string" ? [[seq, id] as const] : []
    })
  )
  const taken = yield* storage.once(scope, [...new Set(keys.values())])
  const read = yield* Effect.forEach(
    taken.filter(({ seq }) => seq <= asOfSeq),
    ({ key, seq }) => Effect.map(readAt(storage, seq), ({ view }) => [key, String(view.body[member])] as const),
    { concurrency: AT_ONCE }
  )
  const byKey = new Map(read)
  return new Map([...keys].flatMap(([seq, key]) => (byKey.has(key) ? [[seq, byKey.get(key)!] as const] : [])))
})
