/**
 * Compiles layers of envelopes to the normal form: one grid, all rules as boxes.
 *
 * Spec: `SPEC.md` sections 8 and 9.
 */
import { both, type Boxes, merged, others, TooManyBoxes } from "../language/boxes.ts"
import type { Compiled, CompiledRule } from "../language/compiled.ts"
import { allOf, type Grid } from "../language/conditions.ts"
import type { Derived, Envelope, Meter, Rule, Signal } from "../language/envelope.ts"
import type { Finding } from "../language/findings.ts"
import { gridOf } from "./grid.ts"
import { MAX_AXES, MAX_BOXES, MAX_LAYERS } from "../language/limits.ts"

/**
 * Layers that fit together. The first axes of `compiled` are `signals`, then come `derived`, then `meters`, in these
 * orders. Spec: `envelope/1` sections 8 and 9.
 */
export interface Combination {
  /** From the outermost to the agent's own; where the tier floor is among them it is the first. */
  readonly layers: ReadonlyArray<Envelope>
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly meters: ReadonlyArray<Meter>
  readonly compiled: Compiled
}

/** A combination, or why there is none. */
export interface CompileResult {
  readonly combination: Combination | null
  readonly findings: ReadonlyArray<Finding>
}

/**
 * Compiles one envelope, or several layers from the outermost in.
 *
 * - Findings: E103 and E105 where layers do not fit together; E114 for a rule of more than 64 boxes, E113 for more than
 *   16 layers or 127 axes. Paths are those of the layer that is at fault.
 * - Spec: `envelope/1` sections 8, 9 and 14.
 */
export const compile = (layers: ReadonlyArray<Envelope>): CompileResult => {
  if (layers.length < 1 || layers.length > MAX_LAYERS)
    return {
      combination: null,
      findings: [
        { code: "E113", path: "", message: `A combination has 1 to ${MAX_LAYERS} layers; here are ${layers.length}.` }
      ]
    }
  const { axes, derived, findings: misfits, meters, signals } = gridOf(layers)
  if (misfits.length > 0) return { combination: null, findings: misfits }
  if (axes.length > MAX_AXES)
    return {
      combination: null,
      findings: [
        {
          code: "E113",
          path: "",
          message:
            `These layers have ${axes.length} signals, derived signals and meters together; ${MAX_AXES} ` +
            "is the most. Share some, or remove some."
        }
      ]
    }
  const findings: Array<Finding> = []
  const grid: Grid = { axes, places: new Map(axes.map((axis, i) => [axis.name, i])) }
  const rules = layers.flatMap((envelope, layer) =>
    envelope.rules.flatMap((rule, i): ReadonlyArray<CompiledRule> => {
      const boxes = boxesOfRule(rule, grid)
      if (boxes !== null) return [{ id: rule.id, layer, outcome: rule.outcome, boxes }]
      findings.push({
        code: "E114",
        path: `/rules/${i}`,
        message: `The rule ${rule.id} needs more than ${MAX_BOXES} boxes. Split it, or use fewer alternatives.`
      })
      return []
    })
  )
  if (findings.length > 0) return { combination: null, findings }
  return {
    combination: {
      layers,
      signals,
      derived,
      meters,
      compiled: { axes, rules, otherwise: layers.map((layer) => layer.otherwise) }
    },
    findings
  }
}

/** `when` without every `unless`; null where that takes too many boxes. */
const boxesOfRule = (rule: Rule, grid: Grid): Boxes | null => {
  try {
    const boxes = merged(
      rule.unless.reduce(
        (rest: Boxes, exception) => both(rest, others(allOf(exception, grid), grid.axes)),
        allOf(rule.when, grid)
      ),
      grid.axes
    )
    return boxes.length > MAX_BOXES ? null : boxes
  } catch (error) {
    if (error instanceof TooManyBoxes) return null
    throw error
  }
}
