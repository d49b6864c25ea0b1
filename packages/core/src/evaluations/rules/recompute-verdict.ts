/** What recomputation says of a recorded evaluation. Spec: envelopes.md 3.8; decision 0026. */
import type { LayerRef } from "./layers.ts"
import type { RecordedMeter, RecordedSide } from "./recorded-side.ts"

/** Verdicts on a recorded evaluation. `withheld`: what would be needed is not shown, and what is shown agrees. */
export const recomputeVerdicts = [
  "ok", "envelope_unknown", "envelope_not_in_force", "signal_invalid", "tier_mismatch", "meter_mismatch", "rule_mismatch", "outcome_mismatch", "trace_mismatch", "withheld"
] as const
export type RecomputeVerdict = (typeof recomputeVerdicts)[number]

/** What came of one evaluation. `reason` says what was expected and what was seen; it never shows a signal. */
export interface Recomputed {
  readonly seq: number
  readonly evaluationId: string
  readonly agentId: string
  readonly verdict: RecomputeVerdict
  readonly reason: string | null
}

/** What is wrong with an evaluation, or not known of it. `amountsHold`: what it adds to meters was made again all the same. */
export interface Problem {
  readonly verdict: Exclude<RecomputeVerdict, "ok">
  readonly reason: string
  readonly amountsHold?: true
}

/** A verdict with its reason. */
export const problem = (verdict: Problem["verdict"], reason: string): Problem => ({ verdict, reason })

/** The first meter that a record tells otherwise than it was made again; null when there is none. */
export const differingMeter = (recorded: ReadonlyArray<RecordedMeter>, again: ReadonlyArray<RecordedMeter>): Problem | null => {
  if (recorded.length !== again.length) return problem("meter_mismatch", `${again.length} meters were asked; the record names ${recorded.length}.`)
  for (const [place, one] of again.entries()) {
    const other = recorded[place]!
    if (one.id !== other.id || one.value !== other.value || one.after !== other.after) return problem("meter_mismatch", `The meter ${one.id} held ${one.value} and would hold ${one.after}; the record says ${other.value} and ${other.after}.`)
  }
  return null
}

/** Whether a side names other versions than these. */
export const differs = (side: RecordedSide | null, layers: ReadonlyArray<LayerRef> | null): boolean =>
  side === null || layers === null ? (side === null) !== (layers === null) : side.layers.length !== layers.length || side.layers.some(({ envelopeId, version }, place) => layers[place]!.envelopeId !== envelopeId || layers[place]!.version !== version)
