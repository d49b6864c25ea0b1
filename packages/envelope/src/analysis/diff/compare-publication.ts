/**
 * Compares a version with what bound before it, for the publication gate: under the tier floor, with the layers around
 * it and with each envelope of an agent inside.
 *
 * The service compares before it publishes, and so does a replay of a pack. A layer inside declares signals with other
 * values and bounds: what is equal in the org unit's own terms need not be equal there. Spec: `envelope/1` section 9;
 * decisions 0022, 0025, 0026.
 */
import { type Combination, compile } from "../../compile/compile.ts"
import type { Envelope } from "../../language/envelope.ts"
import { withTierFloor } from "../../language/tier-floor.ts"
import { beyondOutcomes, withNotes } from "./beyond-outcomes.ts"
import { diff, type DiffOptions } from "./diff.ts"
import type { DiffReport } from "./diff-report.ts"
import { gravestOf, type ReportFor } from "./gravest.ts"
import type { Budgets } from "../lint/inspection.ts"
import { longerNotice } from "./longer-notice.ts"
import { movedMeters } from "./moved-meters.ts"
import { unitsOf } from "../render/names.ts"

/**
 * A version in force. `envelope` is null if its text is erased or cannot be read: nothing is permitted under it. Spec:
 * decision 0025.
 */
export interface GateLayer {
  readonly envelopeId: string
  readonly envelope: Envelope | null
}

/** Inputs of the publication gate, other than the published text. */
export interface GateSight {
  /** The layers in force before, outermost first; empty where everything was denied. */
  readonly before: ReadonlyArray<GateLayer>
  /** The version in its own place; null where there was none, or its text is gone. */
  readonly own: Envelope | null
  /** The envelope in force for the org unit of the envelope's agent. */
  readonly outer: ReadonlyArray<GateLayer>
  /** The envelopes in force for the agents of the envelope's org unit, each text once. */
  readonly inner: ReadonlyArray<GateLayer>
}

/**
 * How far a question is followed; past it the answer names what is open (E110). The cost of a node grows with the
 * square of the boxes, so fewer nodes are visited where there are many.
 *
 * - Unit: nodes of a diagram, and as many states of all searches; `work` is nodes times the square of the boxes.
 * - Spec: `envelope/1` section 14, E110; decision 0022.
 */
export interface Limits {
  readonly nodes: number
  readonly work: number
}

/**
 * The result of the comparison. `isShown`: the texts alone show a change that outcomes do not; no longer search would
 * prove it harmless.
 */
export interface ComparedPublication {
  readonly report: DiffReport
  readonly isShown: boolean
}

/** Different texts of agents that are compared one by one. Past it the change is `unknown`. */
const MAX_COMPARED = 256

/** The budgets of a comparison of these versions. Spec: decision 0022. */
export const budgetsOf = (
  { nodes, work }: Limits,
  ...versions: ReadonlyArray<Combination | null>
): Required<Budgets> => {
  const boxes = Math.max(
    1,
    ...versions.map((version) => version?.compiled.rules.reduce((sum, rule) => sum + rule.boxes.length, 0) ?? 0)
  )
  const budget = Math.max(1, Math.min(nodes, Math.floor(work / (boxes * boxes))))
  return { budget, searchBudget: budget }
}

/** Layers under the tier floor; null if they do not fit together. Spec: `envelope/1` section 10. */
export const floored = (envelopes: ReadonlyArray<Envelope>): Combination | null =>
  compile(withTierFloor(envelopes)).combination

/**
 * Compares a version to publish with the versions in force. `to` is the published version with the layers around it;
 * `history` are recorded inputs, evaluated under both. Spec: decisions 0022 and 0025.
 */
export const comparePublication = (
  later: Envelope,
  to: Combination,
  sight: GateSight,
  limits: Limits,
  history?: DiffOptions["history"]
): ComparedPublication => {
  const from = combinationOf(sight.before)
  const units = unitsOf(later)
  const budgets = budgetsOf(limits, from, to)
  const outcomes = diff(from?.compiled ?? null, to.compiled, {
    ...budgets,
    units,
    ...(history === undefined ? {} : { history })
  })
  const beside = beyondOutcomes(outcomes, sight.own, later)
  const alone = withNotes(beside, longerNotice(from, to, budgets, units))
  const { inner } = sight
  const share = { nodes: limits.nodes, work: limits.work / Math.max(1, Math.min(inner.length, MAX_COMPARED)) }
  const found = inner.slice(0, MAX_COMPARED).flatMap((layer) => withAgent(layer, later, sight, share) ?? [])
  const reports =
    inner.length <= MAX_COMPARED
      ? found
      : [
          ...found,
          {
            whom: "",
            report: {
              ...alone,
              change: "unknown" as const,
              complete: false,
              sentence:
                `Agents of this org unit have ${inner.length} different envelopes of their own; ` +
                `${MAX_COMPARED} are compared at most.`
            }
          }
        ]
  return {
    report: gravestOf(alone, reports),
    isShown: beside.notes.length > outcomes.notes.length || found.some(({ moved }) => moved)
  }
}

/** Null where the agent's layer cannot be read, or fits no more: nothing is permitted under it, before and after. */
const withAgent = (
  layer: GateLayer,
  later: Envelope,
  { before, outer, own }: GateSight,
  limits: Limits
): (ReportFor & { readonly moved: boolean }) | null => {
  const around = outer.map(({ envelope }) => envelope)
  const to = layer.envelope === null ? null : floored([...around.flatMap((one) => one ?? []), later, layer.envelope])
  if (to === null) return null
  const from = before.length === 0 ? null : combinationOf([...before, layer])
  const budgets = budgetsOf(limits, from, to)
  const units = unitsOf(later)
  const moved = movedMeters([...around, own, layer.envelope], [...around, later, layer.envelope])
  return {
    whom: `With the envelope ${layer.envelopeId} of an agent of this org unit: `,
    report: withNotes(diff(from?.compiled ?? null, to.compiled, { ...budgets, units }), [
      ...longerNotice(from, to, budgets, units),
      ...moved.map((id) => `The meter ${id} would belong to another envelope and begin anew.`)
    ]),
    moved: moved.length > 0
  }
}

/**
 * Combines layers without their waivers: a version that makes an exception permanent loosens, also while the exception
 * holds for a time. Null where there is no combination.
 */
const combinationOf = (layers: ReadonlyArray<GateLayer>): Combination | null => {
  const envelopes = layers.flatMap(({ envelope }) => envelope ?? [])
  return layers.length === 0 || envelopes.length < layers.length ? null : floored(envelopes)
}
