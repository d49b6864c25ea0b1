import { pointSet } from "../../../language/boxes.ts"
import type { Axis, Box } from "../../../language/compiled.ts"
import type { Envelope } from "../../../language/envelope.ts"
import { type Bits, bitsOf, hasBit } from "../../cells/bits.ts"
import { admits } from "../../cells/cells.ts"
import type { LintCode } from "../codes.ts"
import type { Inspection } from "../inspection.ts"
import { laxerThan, variantOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"
import { listed } from "./words.ts"

/** Outcomes below this one let the action happen without a person. */
const ASKS_A_PERSON = severityOf("require_review")

/** W207 and W209: side effects that nothing but the caller's own word permits, and such that no meter counts. */
export const checkSideEffects = (inspection: Inspection): void => {
  const { facts, model, notChecked } = inspection
  const { axes } = model.compiled
  const tool = axes.findIndex(({ name, kind }) => name === "tool" && kind === "enum")
  const skip = (reason: string): void =>
    (["W207", "W209"] satisfies ReadonlyArray<LintCode>).forEach(
      (code) => void notChecked.push({ code, rules: [], reason })
    )
  if (facts.envelope === undefined) return skip("The effect classes of tools were not given.")
  if (tool === -1) return skip("The envelope has no enum signal named tool.")
  const effectful = toolsWithEffect(axes[tool]!, facts.envelope)
  if (effectful.length === 0) return
  checkCallerAlone(inspection, tool, effectful)
  checkMetered(inspection, tool, effectful)
}

/** Values of `tool` that do more than read, by index. A tool without a class counts. */
const toolsWithEffect = (axis: Axis, { effects }: Envelope): ReadonlyArray<number> =>
  axis.values!.flatMap((name, index) => (effects.get(name) === "read" ? [] : [index]))

const toolsBox = (tool: number, axis: Axis, indices: ReadonlyArray<number>): Box =>
  pointSet(tool, axis, (point) => indices.includes(point))[0]!

/**
 * W207: a box of a permitting rule tests only what the caller says, and at some input of it, with a side effect, no
 * stricter rule can step in
 * whatever the server knows, nor can a layer fall silent.
 */
const checkCallerAlone = (
  { facts, find, idOf, model, ownRules, say }: Inspection,
  tool: number,
  effectful: ReadonlyArray<number>
): void => {
  const { boxes, compiled, numbers } = model
  const said = compiled.axes.map(
    (axis) => axis.origin === "caller" || isDerivedFromCaller(axis, compiled.axes, facts.envelope!)
  )
  const callerOnly = (box: number): boolean => boxes[box]!.every(({ axis }) => said[axis]!)
  const blind = variantOf(model, (box) => box.filter(({ axis }) => said[axis]!), [
    toolsBox(tool, compiled.axes[tool]!, effectful)
  ])
  const sure = (bits: Bits): Bits =>
    bitsOf(
      blind.grid.words,
      [...boxes.keys()].filter((box) => hasBit(bits, box) && callerOnly(box))
    )
  const laxer = laxerThan(blind, ASKS_A_PERSON)
  for (const rule of ownRules) {
    if (severityOf(compiled.rules[rule]!.outcome) >= ASKS_A_PERSON) continue
    for (const box of numbers[rule]!.filter(callerOnly)) {
      const example = find(
        "W207",
        [rule],
        { within: bitsOf(blind.grid.words, [box, boxes.length]), avoid: laxer.avoid, need: laxer.need.map(sure) },
        blind
      )
      if (example === null) continue
      say(
        "W207",
        [rule],
        `The rule ${idOf(rule)} says ${compiled.rules[rule]!.outcome} to ` +
          `${compiled.axes[tool]!.values![example[tool]!]} on what the caller says alone. Test something that ` +
          "the server knows too.",
        { example }
      )
      break
    }
  }
}

/** A derived signal is the caller's word where all its arguments are. */
const isDerivedFromCaller = (axis: Axis, axes: ReadonlyArray<Axis>, { derived }: Envelope): boolean =>
  axis.origin === "derived" &&
  (derived
    .find(({ name }) => name === axis.name)
    ?.args.every((arg) => axes.some(({ name, origin }) => name === arg && origin === "caller")) ??
    false)

/** W209: tools with a side effect that are permitted somewhere, while no rule that tests a meter concerns them. */
const checkMetered = ({ find, model, say }: Inspection, tool: number, effectful: ReadonlyArray<number>): void => {
  const { boxes, compiled } = model
  const axis = compiled.axes[tool]!
  const metered = (index: number): boolean =>
    boxes.some(
      (box) =>
        box.some((range) => compiled.axes[range.axis]!.origin === "meter") &&
        box.every((range) => range.axis !== tool || admits(range, axis, index))
    )
  const bare = effectful.filter((index) => !metered(index))
  if (bare.length === 0) return
  const one = variantOf(
    model,
    (box) => box,
    bare.map((index) => toolsBox(tool, axis, [index]))
  )
  const laxer = laxerThan(one, ASKS_A_PERSON)
  const permitted = bare.flatMap((index, place) => {
    const example = find("W209", [], { within: bitsOf(one.grid.words, [boxes.length + place]), ...laxer }, one)
    return example === null ? [] : [{ index, example }]
  })
  if (permitted.length === 0) return
  say(
    "W209",
    [],
    `${listed(permitted.map(({ index }) => axis.values![index]!))}: permitted, with a side effect, and no rule ` +
      `tests a meter for ${permitted.length === 1 ? "it" : "them"}. Bound the sum or the count with a meter.`,
    { example: permitted[0]!.example }
  )
}
