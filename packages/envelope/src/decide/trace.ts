/** The trace of an evaluation, derived from its decision. Spec: `SPEC.md` section 12. */
import type { Combination } from "../compile/compile.ts"
import type { Outcome } from "../language/compiled.ts"
import type { Decision, StopStep } from "./decision.ts"
import { HOLDS } from "../compile/table.ts"

/** One step of a trace. `failed_on` names the axis at which a rule failed; null where a rule can hold nowhere. */
export interface TraceEntry {
  readonly step: StopStep | "tier_floor" | "meter" | "rule" | "default" | "review"
  readonly id: string
  readonly result: "hit" | "miss" | "error"
  readonly outcome?: Outcome
  readonly failed_on?: string | null
}

const stopSteps: ReadonlyArray<StopStep> = ["kill", "agent", "envelope", "signals"]

/**
 * Renders the trace of a decision, in the order of the steps. `combination` is null if no envelope was in force. Spec:
 * `envelope/1` section 12.
 */
export const renderTrace = (combination: Combination | null, decision: Decision): ReadonlyArray<TraceEntry> => {
  const { stopped } = decision
  const reached = stopped === null ? stopSteps.length : stopSteps.indexOf(stopped.step)
  const before = stopSteps.slice(0, reached).map((step): TraceEntry => ({ step, id: step, result: "miss" }))
  if (stopped !== null)
    return [
      ...before,
      {
        step: stopped.step,
        id: stopped.id ?? decision.matchedRule,
        result: stopped.step === "signals" ? "error" : "hit",
        outcome: "deny"
      }
    ]
  if (combination === null) return before
  const { axes, otherwise, rules } = combination.compiled
  const tested = rules.map((rule, place): TraceEntry => {
    const failed = decision.failedOn[place]!
    const head = { step: rule.id.startsWith("@") ? "tier_floor" : "rule", id: rule.id } as const
    return failed === HOLDS
      ? { ...head, result: "hit", outcome: rule.outcome }
      : { ...head, result: "miss", failed_on: axes[failed]?.name ?? null }
  })
  const floor = tested.filter((entry) => entry.step === "tier_floor")
  const meters = decision.meters.map((meter): TraceEntry =>
    meter.over
      ? { step: "meter", id: meter.id, result: "hit", outcome: "deny" }
      : { step: "meter", id: meter.id, result: "miss" }
  )
  const silent = otherwise.flatMap((outcome, layer): ReadonlyArray<TraceEntry> => {
    const isHeard = rules.some((rule, place) => rule.layer === layer && decision.failedOn[place] === HOLDS)
    return outcome === null || isHeard ? [] : [{ step: "default", id: "@default", result: "hit", outcome }]
  })
  return [
    ...before,
    ...floor,
    ...meters,
    ...tested.slice(floor.length),
    ...silent,
    ...(decision.approved ? [{ step: "review", id: "review", result: "hit", outcome: "allow" } as const] : [])
  ]
}
