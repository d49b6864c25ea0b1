import { pointSet } from "../../../language/boxes.ts"
import type { Axis, Box } from "../../../language/compiled.ts"
import { forms } from "../../../language/forms/forms.ts"
import { placeElsewhere } from "../../../language/text-cells.ts"
import { bitsOf } from "../../cells/bits.ts"
import { admits } from "../../cells/cells.ts"
import { laxerThan, variantOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"
import type { Inspection } from "../inspection.ts"

/** Outcomes below this one let the action happen without a person. */
const ASKS_A_PERSON = severityOf("require_review")

/**
 * W215 to W217: an unreadable text that passes where rules test it, a rule that names only what a text must not be, and
 * a path or a URL that is compared sign by sign.
 */
export const checkTexts = (inspection: Inspection): void => {
  for (const [index, { text }] of inspection.model.compiled.axes.entries()) {
    if (text === undefined) continue
    if (text.form === null) checkFormless(inspection, index)
    else checkUnreadable(inspection, index)
    checkExclusion(inspection, index)
  }
}

/** True when a box admits a point of one axis. */
const isIn = (box: Box, index: number, axis: Axis, point: number): boolean =>
  box.every((range) => range.axis !== index || admits(range, axis, point))

const boxAt = (index: number, axis: Axis, at: number): Box => pointSet(index, axis, (point) => point === at)[0] ?? []

/**
 * W215: an action is permitted where a text is unreadable, and a rule tests this text there: one that permits, or one
 * that would not permit another text.
 */
const checkUnreadable = ({ find, model, own, say }: Inspection, index: number): void => {
  const { boxes, compiled, numbers } = model
  const axis = compiled.axes[index]!
  const tests = (rule: number): ReadonlyArray<number> =>
    compiled.rules[rule]!.layer === own
      ? numbers[rule]!.filter((box) => boxes[box]!.some((range) => range.axis === index))
      : []
  const isLax = (rule: number): boolean => severityOf(compiled.rules[rule]!.outcome) < ASKS_A_PERSON
  const rules = [...numbers.keys()]
  const lax = rules
    .filter(isLax)
    .flatMap(tests)
    .filter((box) => isIn(boxes[box]!, index, axis, axis.max))
  const strict = rules.filter((rule) => !isLax(rule)).flatMap(tests)
  if (lax.length + strict.length === 0) return
  const variant = variantOf(model, (box) => box, [
    boxAt(index, axis, axis.max),
    ...strict.map((box) => boxes[box]!.filter((range) => range.axis !== index))
  ])
  const laxer = laxerThan(variant, ASKS_A_PERSON)
  const tested = [...lax, ...strict.map((_, i) => boxes.length + 1 + i)]
  const example = find(
    "W215",
    [],
    {
      within: bitsOf(variant.grid.words, [boxes.length]),
      avoid: laxer.avoid,
      need: [...laxer.need, bitsOf(variant.grid.words, tested)]
    },
    variant
  )
  if (example === null) return
  say(
    "W215",
    [],
    `An action is permitted where ${axis.name} is no ${forms[axis.text!.form!].noun} that all programs read alike. ` +
      "Permit by under, eq or in, or forbid what is not readable.",
    { example }
  )
}

/** A folder, and a URL that may go on within its host. */
const LIKE_PATH = /^(?:\/.|[a-z][a-z0-9+-]*:\/\/[^/]*$)/i

/** W217: a beginning or an end is the constant of a text that only a form reads as programs do. */
const checkFormless = ({ model, say }: Inspection, index: number): void => {
  const { name, text } = model.compiled.axes[index]!
  const found = text!.prefixes.find((one) => LIKE_PATH.test(one)) ?? text!.suffixes.find((one) => one.startsWith("@"))
  if (found === undefined) return
  say(
    "W217",
    [],
    `${JSON.stringify(found)} is compared with ${name} sign by sign: ".." and other spellings lead out of it, and so ` +
      'does a longer name. Give the signal a form, "path@1" or "domain@1", and bound it by under.'
  )
}

/** W216: a rule permits a text that it has no constant for, and excludes others by their constants. */
const checkExclusion = ({ find, idOf, model, ownRules, say }: Inspection, index: number): void => {
  const { boxes, compiled, numbers } = model
  const axis = compiled.axes[index]!
  const elsewhere = placeElsewhere(axis.text!)
  const readable = Array.from({ length: axis.max + (axis.text!.form === null ? 1 : 0) }, (_, point) => point)
  const excluding = (box: number): boolean =>
    isIn(boxes[box]!, index, axis, elsewhere) && readable.some((point) => !isIn(boxes[box]!, index, axis, point))
  const suspects = ownRules.filter(
    (rule) => severityOf(compiled.rules[rule]!.outcome) < ASKS_A_PERSON && numbers[rule]!.some(excluding)
  )
  if (suspects.length === 0 || elsewhere === -1) return
  const other = variantOf(model, (box) => box, [boxAt(index, axis, elsewhere)])
  const laxer = laxerThan(other, ASKS_A_PERSON)
  for (const rule of suspects) {
    for (const box of numbers[rule]!.filter(excluding)) {
      const example = find("W216", [rule], { within: bitsOf(other.grid.words, [box, boxes.length]), ...laxer }, other)
      if (example === null) continue
      say(
        "W216",
        [rule],
        `The rule ${idOf(rule)} bounds ${axis.name} only by what it must not be, and permits all else. Another ` +
          "spelling, link or name leads around such a bound: say what is permitted, by under, eq or in.",
        { example }
      )
      break
    }
  }
}
