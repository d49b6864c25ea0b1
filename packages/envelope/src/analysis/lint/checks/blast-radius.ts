import { interval, others, pointSet } from "../../../language/boxes.ts"
import type { Axis, Box } from "../../../language/compiled.ts"
import { bitsOf } from "../../cells/bits.ts"
import { countRegions, NODE_BUDGET } from "../../cells/diagram.ts"
import type { BlastBound } from "../facts.ts"
import type { Inspection } from "../inspection.ts"
import { decidingSides, laxerThan, permittedVolume, variantOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"

/**
 * W208: inputs that are permitted without a person although the declared blast radius leaves them out; one finding for
 * each of its bounds.
 */
export const checkBlastRadius = (inspection: Inspection): void => {
  const { facts, find, model, notChecked, say, volumes } = inspection
  const { axes } = model.compiled
  if (facts.blastRadius === undefined) {
    notChecked.push({ code: "W208", rules: [], reason: "No blast radius was given." })
    return
  }
  for (const bound of facts.blastRadius) {
    const index = axes.findIndex(({ name }) => name === bound.signal)
    if (index === -1) {
      notChecked.push({
        code: "W208",
        rules: [],
        reason: `The blast radius bounds ${bound.signal}, which is no signal of the envelope.`
      })
      continue
    }
    const outside = outsideOf(bound, index, axes)
    if (outside.length === 0) continue
    const added = variantOf(model, (box) => box, outside)
    const laxer = laxerThan(added, severityOf("require_review"))
    const first = model.boxes.length
    const example = outside
      .map((_, place) => find("W208", [], { within: bitsOf(added.grid.words, [first + place]), ...laxer }, added))
      .find((found) => found !== null)
    if (example === undefined || example === null) continue
    // Where even the envelope alone was too much to count, so is this.
    const counted =
      volumes === null
        ? null
        : countRegions(
            added.grid,
            [...decidingSides(added), { ranks: added.boxes.map((_, box) => (box < first ? 1 : 0)), none: 1 }],
            NODE_BUDGET
          )
    const volume = counted?.complete === true ? permittedVolume(added, counted) : undefined
    say(
      "W208",
      [],
      `The envelope permits inputs whose ${bound.signal} is outside the declared blast radius. Deny them, ask ` +
        "for review, or declare what is meant.",
      { example, ...(volume === undefined ? {} : { volume }) }
    )
  }
}

/** True for a point that is one value, and not the example of a cell that has more. */
const isOneValue = ({ text }: Axis, point: number): boolean =>
  text === undefined || [...text.placeOfEqual.values()].includes(point)

/** The complement of a bound, as boxes. */
const outsideOf = (bound: BlastBound, index: number, axes: ReadonlyArray<Axis>): ReadonlyArray<Box> => {
  const axis = axes[index]!
  if ("max" in bound) {
    const above = axis.kind === "int" ? interval(index, axis, bound.max + 1, axis.max) : []
    const tool = axes.findIndex(({ kind, name }) => name === "tool" && kind === "enum")
    if (bound.ofTools === undefined || tool === -1) return above
    const called = pointSet(
      tool,
      axes[tool]!,
      (point) => point >= axes[tool]!.min && bound.ofTools!.includes(axes[tool]!.values![point]!)
    )
    return above.flatMap((box) => called.map((other): Box => [...box, ...other].sort((a, b) => a.axis - b.axis)))
  }
  return axis.values === null
    ? []
    : others(
        pointSet(
          index,
          axis,
          (point) => point < axis.min || (isOneValue(axis, point) && bound.values.includes(axis.values![point]!))
        ),
        [...Array.from({ length: index }, () => axis), axis]
      )
}
