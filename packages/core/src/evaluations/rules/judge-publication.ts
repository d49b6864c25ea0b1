/**
 * Compares a version that was published with what bound before it, as the gate of publication did: under the tier floor, with the outer layer, and with each envelope of an agent inside.
 *
 * Spec: envelopes.md 3.7 and 3.8; `envelope/1` section 9; decisions 0025 and 0026.
 */
import { beyondOutcomes, withNotes } from "../../envelopes/rules/analysis/beyond-outcomes.ts"
import { diff } from "../../envelopes/rules/analysis/diff.ts"
import type { DiffReport } from "../../envelopes/rules/analysis/diff-report.ts"
import { gravestOf } from "../../envelopes/rules/analysis/gravest.ts"
import type { Budgets } from "../../envelopes/rules/analysis/inspection.ts"
import { longerNotice } from "../../envelopes/rules/analysis/longer-notice.ts"
import { movedMeters } from "../../envelopes/rules/analysis/moved-meters.ts"
import { unitsOf } from "../../envelopes/rules/analysis/render/names.ts"
import { type Combination, compile } from "../../envelopes/rules/compile.ts"
import type { Envelope } from "../../envelopes/rules/envelope.ts"
import { withTierFloor } from "../../envelopes/rules/tier-floor.ts"

/** A version in force. `envelope` is null where its text is gone or cannot be read: nothing is permitted under it. */
export interface GateLayer {
  readonly envelopeId: string
  /** 64 hex digits. */
  readonly digest: string
  readonly envelope: Envelope | null
}

/** What the gate looks at beside the text that is published. */
export interface GateView {
  /** What is in force for the org unit of the agent whose envelope it is. */
  readonly outer: ReadonlyArray<GateLayer>
  /** The version that it replaces; null where none was in force. */
  readonly own: GateLayer | null
  readonly isWithdrawn: boolean
  /** What is in force for the agents of the org unit whose envelope it is. */
  readonly inner: ReadonlyArray<GateLayer>
}

/** What came of it. `isOpen`: the budget ended before the change was proved to be one or the other. */
export interface ComparedVersion {
  readonly change: DiffReport["change"]
  readonly sentence: string
  readonly isOpen: boolean
}

/** How far one comparison goes. Unit: nodes of a diagram; `work` is nodes times the square of the boxes. */
export interface GateLimits {
  readonly nodes: number
  readonly work: number
}

/** Different texts of agents that are compared one by one, as the gate does. Past it the change is `unknown`. */
const MAX_COMPARED = 256

/** Compares. Null where the version fits nothing: then everything is denied under it, and the gate would not have let it through. */
export const judgePublication = (later: Envelope, { inner, isWithdrawn, outer, own }: GateView, limits: GateLimits): ComparedVersion | null => {
  const around = outer.map(({ envelope }) => envelope)
  const to = combined([...around.flatMap((one) => one ?? []), later])
  if (to === null) return null
  const before = isWithdrawn && own === null ? [] : [...outer, ...(own === null ? [] : [own])]
  const from = combinationOf(before)
  const units = unitsOf(later)
  const budgets = budgetsOf(limits, from, to)
  const outcomes = diff(from?.compiled ?? null, to.compiled, { ...budgets, units })
  const beside = beyondOutcomes(outcomes, own?.envelope ?? null, later)
  const alone = withNotes(beside, longerNotice(from, to, budgets, units))

  let isShown = beside.notes.length > outcomes.notes.length
  const texts = [...new Map(inner.flatMap((layer) => (layer.envelope === null ? [] : [[layer.digest, { ...layer, envelope: layer.envelope }] as const]))).values()]
  const share = { nodes: limits.nodes, work: limits.work / Math.max(1, Math.min(texts.length, MAX_COMPARED)) }
  const reports = texts.slice(0, MAX_COMPARED).flatMap((layer) => {
    const under = combined([...around.flatMap((one) => one ?? []), later, layer.envelope])
    if (under === null) return []
    const over = before.length === 0 ? null : combinationOf([...before, layer])
    const shared = budgetsOf(share, over, under)
    const moved = movedMeters([...around, own?.envelope ?? null, layer.envelope], [...around, later, layer.envelope])
    if (moved.length > 0) isShown = true
    return [{
      whom: `With the envelope ${layer.envelopeId} of an agent of this org unit: `,
      report: withNotes(diff(over?.compiled ?? null, under.compiled, { ...shared, units }), [...longerNotice(over, under, shared, units), ...moved.map((id) => `The meter ${id} would belong to another envelope and begin anew.`)])
    }]
  })
  const { change, complete, sentence } = gravestOf(alone, texts.length <= MAX_COMPARED ? reports : [...reports, {
    whom: "", report: { ...alone, change: "unknown", complete: false, sentence: `Agents of this org unit have ${texts.length} different envelopes of their own; ${MAX_COMPARED} are compared at most.` }
  }])
  return { change, sentence, isOpen: change === "unknown" && !complete && !isShown }
}

const combined = (envelopes: ReadonlyArray<Envelope>): Combination | null => compile(withTierFloor(envelopes)).combination

/** What layers permit together; null where that is nothing. Waivers in force are left out: a version that makes an exception permanent loosens. */
const combinationOf = (layers: ReadonlyArray<GateLayer>): Combination | null => {
  const envelopes = layers.flatMap(({ envelope }) => envelope ?? [])
  return layers.length === 0 || envelopes.length < layers.length ? null : combined(envelopes)
}

const budgetsOf = ({ nodes, work }: GateLimits, ...versions: ReadonlyArray<Combination | null>): Budgets => {
  const boxes = Math.max(1, ...versions.map((version) => version?.compiled.rules.reduce((sum, rule) => sum + rule.boxes.length, 0) ?? 0))
  const budget = Math.max(1, Math.min(nodes, Math.floor(work / (boxes * boxes))))
  return { budget, searchBudget: budget }
}
