/**
 * What a change of an org unit's envelope does to the agents that have envelopes of their own. A layer inside declares signals with other values and bounds:
 * what is equal in the org unit's own words need not be equal there.
 *
 * Spec: `envelope/1` section 9; decision 0025.
 */
import { withNotes } from "../rules/analysis/beyond-outcomes.ts"
import { diff } from "../rules/analysis/diff.ts"
import type { DiffReport } from "../rules/analysis/diff-report.ts"
import { gravestOf, type ReportFor } from "../rules/analysis/gravest.ts"
import { longerNotice } from "../rules/analysis/longer-notice.ts"
import { movedMeters } from "../rules/analysis/moved-meters.ts"
import { unitsOf } from "../rules/analysis/render/names.ts"
import { compile } from "../rules/compile.ts"
import type { Envelope } from "../rules/envelope.ts"
import { readEnvelope } from "../rules/read-envelope.ts"
import { withTierFloor } from "../rules/tier-floor.ts"
import { budgetsOf, combinationOf } from "./examine.ts"
import type { LayerText, Limits, Questions, Surroundings } from "./questions.ts"

/** Different texts that are compared one by one. Past it the change is `unknown`. */
const MAX_COMPARED = 256

/** The gravest of what the change comes to alone, which `report` says, and with each of the layers inside. */
export const withAgents = (report: DiffReport, before: Questions["diff"]["before"], later: Envelope, { inner, outer }: Surroundings, limits: Limits): DiffReport => {
  const texts = [...new Map(inner.flatMap((layer) => (layer.envelope === null ? [] : [[JSON.stringify(layer.envelope), layer] as const]))).values()]
  const share = { nodes: limits.nodes, work: limits.work / Math.max(1, Math.min(texts.length, MAX_COMPARED)) }
  const reports = texts.slice(0, MAX_COMPARED).flatMap((layer) => withAgent(layer, before, later, outer, share) ?? [])
  return gravestOf(report, texts.length <= MAX_COMPARED ? reports : [...reports, {
    whom: "", report: { ...report, change: "unknown", sentence: `Agents of this org unit have ${texts.length} different envelopes of their own; ${MAX_COMPARED} are compared at most.` }
  }])
}

/** Null where the agent's layer cannot be read: nothing is permitted under it, before and after. */
const withAgent = (layer: LayerText, { layers, own }: Questions["diff"]["before"], later: Envelope, outer: ReadonlyArray<LayerText>, limits: Limits): ReportFor | null => {
  const within = envelopeOf(layer.envelope)
  const around = outer.map(({ envelope }) => envelopeOf(envelope))
  const to = within === null ? null : compile(withTierFloor([...around.flatMap((one) => one ?? []), later, within])).combination
  if (within === null || to === null) return null
  const from = layers.length === 0 ? null : combinationOf([...layers, layer])
  const budgets = budgetsOf(limits, from, to)
  const units = unitsOf(later)
  const report = diff(from === null ? null : from.compiled, to.compiled, { ...budgets, units })
  const moved = movedMeters([...around, envelopeOf(own), within], [...around, later, within])
  return {
    whom: `With the envelope ${layer.envelopeId} of an agent of this org unit: `,
    report: withNotes(report, [...longerNotice(from, to, budgets, units), ...moved.map((id) => `The meter ${id} would belong to another envelope and begin anew.`)])
  }
}

const envelopeOf = (json: LayerText["envelope"]): Envelope | null => (json === null ? null : readEnvelope(json).envelope)
