import { type Bits, bitsOf, membersOf } from "../../cells/bits.ts"
import type { Run } from "../../cells/cells.ts"
import type { Inspection } from "../inspection.ts"
import { laxerThan, type Model, variantOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"
import { type Point, verdictAt } from "../../cells/verdict-at.ts"

/** The axis that says how far an agent is trusted. */
const TIER = "tier"

/**
 * E104: the same input comes out more restrictive at one tier than at the tier below. A warning where the envelope
 * accepts that and says why.
 *
 * Exact: for each rule or default that decides at the upper tier and not at the lower one, searches for an input on
 * which the lower tier is laxer.
 */
export const checkTier = (inspection: Inspection): void => {
  const { model } = inspection
  const axis = model.compiled.axes.findIndex(({ name, kind }) => name === TIER && kind === "int")
  const level = model.grid.levels.find(({ index }) => index === axis)
  if (level === undefined) return
  const steps = level.cells
    .flatMap(({ boxes, runs }) => runs.map((run) => ({ boxes, run })))
    .filter(({ run }) => run.from >= level.axis.min)
    .sort((left, right) => left.run.from - right.run.from)
  if (steps.length < 2) return
  // Numbers of boxes are those of the model: only their ranges on the tier are gone.
  const flat = variantOf(model, (box) => box.filter((range) => range.axis !== axis), [])
  const reported = new Set<string>()
  for (let upper = 1; upper < steps.length; upper++)
    checkStep(inspection, flat, axis, steps[upper - 1]!, steps[upper]!, reported)
}

interface Step {
  readonly boxes: Bits
  readonly run: Run
}

const checkStep = (
  inspection: Inspection,
  flat: Model,
  axis: number,
  lower: Step,
  upper: Step,
  reported: Set<string>
): void => {
  const { find, model } = inspection
  const { compiled, ofLayer } = model
  const at =
    (step: Step) =>
    (bits: Bits): Bits =>
      bits.map((word, place) => word & step.boxes[place]!)
  const only = (here: Step, there: Step): ReadonlyArray<number> =>
    membersOf(here.boxes.map((word, place) => word & ~there.boxes[place]! & model.grid.all[place]!))
  const ruleOf = compiled.rules.flatMap(({ boxes }, rule) => boxes.map(() => rule))
  const visit = (
    key: string,
    rules: ReadonlyArray<number>,
    within: number,
    avoid: Bits,
    need: ReadonlyArray<Bits>
  ): void => {
    if (reported.has(key)) return
    const found = find("E104", rules, { within: bitsOf(flat.grid.words, [within]), avoid, need }, flat)
    if (found === null) return
    reported.add(key)
    tell(inspection, found.with(axis, lower.run.to), found.with(axis, upper.run.from), axis)
  }
  for (const box of only(upper, lower)) {
    const rule = ruleOf[box]!
    const laxer = laxerThan(model, severityOf(compiled.rules[rule]!.outcome))
    visit(`rule ${rule}`, [rule], box, at(lower)(laxer.avoid), laxer.need.map(at(lower)))
  }
  compiled.otherwise.forEach((outcome, layer) => {
    if (outcome === null) return
    const laxer = laxerThan(model, severityOf(outcome))
    const spoken = at(upper)(ofLayer[layer]!)
    const avoid = at(lower)(laxer.avoid).map((word, place) => word | spoken[place]!)
    for (const box of only(lower, upper)) {
      if (compiled.rules[ruleOf[box]!]!.layer === layer)
        visit(`default ${layer}`, [], box, avoid, laxer.need.map(at(lower)))
    }
  })
}

const tell = ({ facts, model, say }: Inspection, lower: Point, upper: Point, axis: number): void => {
  const { compiled } = model
  const below = verdictAt(compiled, lower)
  const above = verdictAt(compiled, upper)
  const reason = facts.envelope?.acceptNonMonotone ?? null
  const by = above.kind === "rule" ? `the rule ${compiled.rules[above.rule]!.id}` : "the default"
  const advice =
    reason === null
      ? "More trust should not mean less leave: correct the rules, or say why in accept_non_monotone."
      : `The envelope accepts this: ${reason}`
  say(
    "E104",
    above.kind === "rule" ? [above.rule] : [],
    `On one and the same input ${by} says ${above.outcome} at tier ${upper[axis]}, while tier ${lower[axis]} ` +
      `gets ${below.outcome}. ${advice}`,
    {
      example: upper,
      ...(reason === null ? {} : { level: "warning" as const })
    }
  )
}
