/** Changes of an evaluation's contributions to meters: settled with the actual amounts, or voided. */
import { detailItem, EvaluationEnded, InvalidInput, SettleBelowReserved } from "@flyball/contract"
import { Effect } from "effect"
import type { InForceReader } from "../envelopes/in-force.ts"
import type { DocumentPut, StorageApi } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { EvaluationRecord } from "./evaluation-out.ts"
import { findEvaluation } from "./find-evaluation.ts"
import { METERS, windowPut } from "./meter-keeper.ts"
import { mayGiveBack, readSide, reservationsOf } from "@flyball/rules"

/**
 * State of an evaluation's contributions to meters, by its id: settled by one decision, or voided. Whatever comes
 * second is refused, or one reservation would be given back as often as somebody says so. Not governed: the records say
 * it too.
 */
export const EVALUATION_ENDS = "evaluation_ends"

/**
 * The put that ends an evaluation; null where it ended in just this way before.
 *
 * - Fails: `EvaluationEnded` where it ended otherwise.
 */
export const endOf = Effect.fnUntraced(function* (storage: StorageApi, evaluationId: string, how: string) {
  const ended = yield* storage.get(EVALUATION_ENDS, evaluationId)
  if (ended === null)
    return { collection: EVALUATION_ENDS, id: evaluationId, expectedVersion: 0, body: { how } } satisfies DocumentPut
  if (ended.body["how"] === how) return null
  return yield* new EvaluationEnded({ how: ended.body["how"] === "void" ? "void" : "settled" })
})

/** Changes to meters when a decision is settled. */
export interface SettledMeters {
  readonly evaluationSeq: number
  readonly puts: ReadonlyArray<DocumentPut>
}

/** A decision to be settled, the evaluation that it names, and who settles it. */
export interface Settling {
  readonly agentId: string
  readonly decisionId: string
  readonly evaluationId: string | null
  readonly writer: Writer
}

/** Actual amount of a meter, as the caller reports it. */
export type Actual = ReadonlyArray<{ readonly meter: string; readonly amount: number }>

/**
 * The puts that make every evaluation of these windows see the change, or conflict with it. They expect nothing
 * themselves: beside an agent that is evaluated all the time they would come too late for ever.
 */
export const touchWindows = Effect.fnUntraced(function* (storage: StorageApi, windows: Iterable<string>) {
  const puts: Array<DocumentPut> = []
  for (const window of new Set(windows)) {
    const document = yield* storage.get(METERS, window)
    // Nothing was added for longer than any window, so there is nobody whom the change could concern.
    if (document === null) continue
    const { added_at_ms: addedAtMs, key } = document.body
    puts.push(windowPut(window, null, String(key), typeof addedAtMs === "number" ? addedAtMs : null))
  }
  return puts
})

/**
 * Plans the changes to windows when a decision settles with these amounts.
 *
 * - Fails: `InvalidInput` where the decision names no evaluation of this agent, where that one added nothing to such a
 *   meter, and for an amount that the meter cannot have; `EvaluationEnded` where it is void or was settled by
 *   another decision; `SettleBelowReserved` where a key says less than was reserved: it could spend without end.
 */
export const settleMeters = Effect.fnUntraced(function* (
  storage: StorageApi,
  inForce: InForceReader,
  { agentId, decisionId, evaluationId, writer }: Settling,
  actual: Actual
) {
  const evaluation = evaluationId === null ? null : yield* findEvaluation(storage, evaluationId)
  if (evaluationId === null || evaluation === null || evaluation.body["agent_id"] !== agentId)
    return yield* refused("The decision names no evaluation of this agent, so there is nothing to settle", null)
  const reserved = reservationsOf(evaluation.body)
  const most = yield* greatest(inForce, evaluation)
  for (const [place, { amount, meter }] of actual.entries()) {
    if (actual.findIndex((one) => one.meter === meter) < place) return yield* refused("A meter is settled once", meter)
    const reservation = reserved.find((one) => one.meter === meter)
    if (reservation === undefined) return yield* refused("The evaluation added nothing to such a meter", meter)
    if (amount > (most.get(meter) ?? Number.MAX_SAFE_INTEGER))
      return yield* refused(`This meter takes amounts up to ${most.get(meter)}`, amount)
    if (amount < reservation.amount && !mayGiveBack(writer.id))
      return yield* new SettleBelowReserved({ meter, reserved: reservation.amount })
  }
  const windows = reserved.flatMap(({ meter, window }) =>
    actual.some((one) => meter === one.meter || meter === `shadow:${one.meter}`) ? [window] : []
  )
  const end = yield* endOf(storage, evaluationId, decisionId)
  return {
    evaluationSeq: evaluation.seq,
    puts: [...(yield* touchWindows(storage, windows)), ...(end === null ? [] : [end])]
  } satisfies SettledMeters
})

/**
 * The greatest amount of each meter, as the envelopes of the evaluation declare it. Where they are gone nothing bounds
 * it but the record.
 */
const greatest = Effect.fnUntraced(function* (inForce: InForceReader, { body }: EvaluationRecord) {
  const found = new Map<string, number>()
  for (const { envelopeId, version } of readSide(body).layers) {
    const layer = yield* inForce.layer(envelopeId, version, [])
    for (const { id, max, maxCount } of layer?.envelope?.meters ?? [])
      found.set(id, Math.max(found.get(id) ?? 0, max / maxCount))
  }
  return found
})

const refused = (message: string, input: unknown) =>
  Effect.fail(new InvalidInput({ detail: [detailItem(["body", "actual"], "value_error", message, input)] }))
