/**
 * Texts as points of an axis. The constants that rules name divide all texts of a signal into cells, within which no
 * condition changes. A cell is represented by its shortest text, so the axis is like that of an enum.
 *
 * Spec: `SPEC.md` section 8.
 */
import type { Test } from "./envelope.ts"
import { fillers } from "./forms/letters.ts"
import { type FormName, forms } from "./forms/forms.ts"
import { MAX_TEXT } from "./limits.ts"
import { quote } from "./reading.ts"

/** How a text signal is read: its form, or null for the text as it is; and what a relative path begins with. */
export interface TextReading {
  readonly form: FormName | null
  readonly base: string | null
}

/** The constants of a text that rules name, as keys of its form. Unit of lengths: code points. */
export interface TextConstants extends TextReading {
  readonly prefixes: ReadonlyArray<string>
  readonly suffixes: ReadonlyArray<string>
  /** Lengths at which a band begins. */
  readonly cuts: ReadonlyArray<number>
  readonly equals: ReadonlyArray<string>
}

/** The cells of a text. Plain data: it may cross to another thread. */
export interface TextCells extends TextConstants {
  /** The longest first; the last one is what every key begins with, or ends with. `cuts` ascends from 0. */
  readonly prefixes: ReadonlyArray<string>
  readonly suffixes: ReadonlyArray<string>
  readonly cuts: ReadonlyArray<number>
  /** A shortest text of each cell in the order of the points: by length, then code points; last an unreadable one. */
  readonly values: ReadonlyArray<string>
  readonly placeOfEqual: ReadonlyMap<string, number>
  /** Point of the cell of a prefix, a suffix and a band; -1 where no text is in it. */
  readonly places: Int32Array
}

/** The constants of some tests of one signal. */
export const constantsOf = ({ base, form }: TextReading, tests: Iterable<Test>): TextConstants => {
  const [prefixes, suffixes, equals] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const cuts = new Set<number>()
  const { end = "", keyOf = asIs, under = null } = form === null ? {} : forms[form]
  for (const test of tests) {
    if (test.op === "eq") equals.add(keyOf(String(test.value.value)))
    else if (test.op === "in" || test.op === "nin")
      for (const { value } of test.values) equals.add(keyOf(String(value)))
    else if (test.op === "prefix") prefixes.add(String(test.prefix.value))
    else if (test.op === "suffix") suffixes.add(`${String(test.value.value)}${end}`)
    else if (test.op === "under") (under === "prefix" ? prefixes : suffixes).add(keyOf(String(test.value.value)))
    else if (test.op === "length") cuts.add(Number(test.from.value)).add(Number(test.to.value) + 1)
    for (const end of [0, MAX_TEXT + 1]) cuts.delete(end)
  }
  return { base, form, prefixes: [...prefixes], suffixes: [...suffixes], cuts: [...cuts], equals: [...equals] }
}

const asIs = (text: string): string => text

/** True when a test holds for a text that its form reads; of a test that absence does not pass. */
export const holdsFor = (test: Test, { form }: TextReading, normal: string): boolean => {
  const { end = "", keyOf = asIs, under = null } = form === null ? {} : forms[form]
  switch (test.op) {
    case "eq":
      return normal === test.value.value
    case "in":
      return test.values.some(({ value }) => value === normal)
    case "nin":
      return !test.values.some(({ value }) => value === normal)
    case "prefix":
      return normal.startsWith(String(test.prefix.value))
    case "suffix":
      return keyOf(normal).endsWith(`${String(test.value.value)}${end}`)
    case "under": {
      const root = keyOf(String(test.value.value))
      return under === "prefix" ? keyOf(normal).startsWith(root) : keyOf(normal).endsWith(root)
    }
    case "length": {
      const length = lengthOf(normal)
      return Number(test.from.value) <= length && length <= Number(test.to.value)
    }
    case "readable":
      return test.value
    default:
      return false
  }
}

/** The normal form of a text; null where it is unreadable. A text without a form is its own. */
export const normalOf = ({ base, form }: TextReading, text: string): string | null =>
  form === null ? text : forms[form].read(text, base)

/** True for a value that the signal can have. A form makes a point of every text, that of the unreadable ones too. */
export const isText = ({ form }: TextReading, value: unknown): value is string =>
  typeof value === "string" &&
  (form !== null ||
    (value.length <= 2 * MAX_TEXT && (value.length <= MAX_TEXT || lengthOf(value) <= MAX_TEXT) && value.isWellFormed()))

/** The point of a text. Precondition: {@link isText}. */
export const placeOfText = (cells: TextCells, text: string): number => {
  const normal = normalOf(cells, text)
  if (normal === null) return cells.values.length - 1
  const key = cells.form === null ? normal : forms[cells.form].keyOf(normal)
  return cells.placeOfEqual.get(key) ?? cells.places[cellOf(cells, key)]!
}

/** The point of the texts that meet no constant; -1 where there are none. */
export const placeElsewhere = ({ cuts, places }: TextCells): number => places.at(-cuts.length)!

type Cut = Pick<TextConstants, "prefixes" | "suffixes" | "cuts">

/** The cell of a key that equals no constant. All constants together have a bounded length, so each is tried. */
const cellOf = ({ cuts, prefixes, suffixes }: Cut, key: string): number => {
  let prefix = 0
  while (!key.startsWith(prefixes[prefix]!)) prefix++
  let suffix = 0
  while (!key.endsWith(suffixes[suffix]!)) suffix++
  let band = cuts.length - 1
  if (band > 0) for (const length = lengthOf(key); cuts[band]! > length;) band--
  return (prefix * suffixes.length + suffix) * cuts.length + band
}

/** Length in code points. */
const lengthOf = (text: string): number => {
  let length = 0
  for (let i = 0; i < text.length; length++) i += text.codePointAt(i)! > 0xffff ? 2 : 1
  return length
}

/** Number of cells that constants can make. */
export const mostCells = (constants: TextConstants): number => {
  const { cuts, equals, prefixes, suffixes } = sorted(constants)
  return prefixes.length * suffixes.length * cuts.length + equals.length
}

const sorted = ({ cuts, equals, form, prefixes, suffixes }: TextConstants) => {
  const { end = "", start = "" } = form === null ? {} : forms[form]
  const longestFirst = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
    [...new Set(texts)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  return {
    prefixes: longestFirst([...prefixes, start]),
    suffixes: longestFirst([...suffixes, end]),
    cuts: [...new Set([0, ...cuts])].sort((a, b) => a - b),
    equals: [...new Set(equals)]
  }
}

/** Divides the texts of a signal by constants. Spec: `envelope/1` section 8. */
export const textCells = (constants: TextConstants): TextCells => {
  const { base, form } = constants
  const cut = sorted(constants)
  const { cuts, equals, prefixes, suffixes } = cut
  const equal = new Set(equals)
  const letter = freshLetter([...prefixes, ...suffixes, ...equals])
  const found = new Map<number, string>()
  const beyond = prefixes.map((prefix) => prefixes.flatMap((one) => restAfter(one, prefix)).toReversed())
  const before = suffixes.map((suffix) => suffixes.flatMap((one) => restBefore(one, suffix)).toReversed())
  for (let cell = 0; cell < prefixes.length * suffixes.length * cuts.length; cell++) {
    const band = cell % cuts.length
    const suffix = Math.floor(cell / cuts.length) % suffixes.length
    const prefix = Math.floor(cell / cuts.length / suffixes.length)
    const keys = candidates(form, {
      prefix: prefixes[prefix]!,
      suffix: suffixes[suffix]!,
      beyond: beyond[prefix]!,
      before: before[suffix]!,
      least: cuts[band]!,
      most: (cuts[band + 1] ?? MAX_TEXT + 1) - 1,
      letter
    })
    for (const key of keys) {
      if (equal.has(key) || cellOf(cut, key) !== cell || !isKey(form, key)) continue
      found.set(cell, key)
      break
    }
  }
  const ordered = [...found.values(), ...equals]
    .map((key) => ({ key, text: form === null ? key : forms[form].textOf(key) }))
    .sort((a, b) => byCodePoints(a.text, b.text))
  const points = new Map(ordered.map(({ key }, point) => [key, point]))
  const places = new Int32Array(prefixes.length * suffixes.length * cuts.length).fill(-1)
  for (const [cell, key] of found) places[cell] = points.get(key)!
  return {
    base,
    form,
    ...cut,
    values: [...ordered.map(({ text }) => text), ...(form === null ? [] : [forms[form].unreadable])],
    placeOfEqual: new Map(equals.map((key) => [key, points.get(key)!])),
    places
  }
}

/** Divides by the constants of two divisions. */
export const joinedCells = (a: TextCells, b: TextCells): TextCells =>
  textCells({
    ...a,
    prefixes: [...a.prefixes, ...b.prefixes],
    suffixes: [...a.suffixes, ...b.suffixes],
    cuts: [...a.cuts, ...b.cuts],
    equals: [...a.equals, ...b.equals]
  })

/** Describes a cell as the end of a sentence: "were under …". Constants stand in quotes. */
export const cellWords = (cells: TextCells, point: number): string => {
  const { cuts, form, places, prefixes, suffixes, values } = cells
  if (form !== null && point === values.length - 1) return "were unreadable"
  const cell = places.indexOf(point)
  const { end = "", noun = "text", start = "", textOf = asIs, under = null } = form === null ? {} : forms[form]
  if (cell === -1) return `were ${quote(normalOf(cells, values[point]!)!)}`
  const band = cell % cuts.length
  const suffix = suffixes[Math.floor(cell / cuts.length) % suffixes.length]!
  const prefix = prefixes[Math.floor(cell / cuts.length / suffixes.length)]!
  const words = [
    ...(prefix === start
      ? []
      : [under === "prefix" ? `were under ${quote(textOf(prefix))}` : `began with ${quote(prefix)}`]),
    ...(suffix === end
      ? []
      : [
          under === "suffix"
            ? `were under ${quote(textOf(suffix))}`
            : `ended with ${quote(suffix.slice(0, suffix.length - end.length))}`
        ]),
    ...(cuts.length === 1 ? [] : [`had ${cuts[band]} to ${(cuts[band + 1] ?? MAX_TEXT + 1) - 1} characters`])
  ]
  return words.length === 0 ? `were another ${noun}` : words.join(" and ")
}

/** True when a form can read a text so. */
const isKey = (form: FormName | null, key: string): boolean => {
  if (form === null) return true
  const normal = forms[form].read(forms[form].textOf(key), null)
  return normal !== null && forms[form].keyOf(normal) === key
}

/** The rest of a longer constant behind a prefix, or before a suffix; empty where it does not continue that one. */
const restAfter = (longer: string, prefix: string): ReadonlyArray<string> =>
  longer !== prefix && longer.startsWith(prefix) ? [longer.slice(prefix.length)] : []
const restBefore = (longer: string, suffix: string): ReadonlyArray<string> =>
  longer !== suffix && longer.endsWith(suffix) ? [longer.slice(0, longer.length - suffix.length)] : []

/** A cell whose shortest text is to be found. */
interface Sought {
  readonly prefix: string
  readonly suffix: string
  /** How longer constants continue the prefix, and the suffix to its front: with one of these it is another cell. */
  readonly beyond: ReadonlyArray<string>
  readonly before: ReadonlyArray<string>
  readonly least: number
  readonly most: number
  readonly letter: string
}

/**
 * The texts that can be a shortest one with a prefix and a suffix, in this order. Where both overlap or touch there is
 * one of each length; beyond it any letter serves that no constant has, and in names of labels one of the first labels.
 */
function* candidates(form: FormName | null, sought: Sought): Generator<string> {
  const { before, beyond, least, letter, most, prefix, suffix } = sought
  const [start, end] = [lengthOf(prefix), lengthOf(suffix)]
  const isBasic = start === prefix.length || end === suffix.length
  // Constants are well formed, so no overlap cuts a pair of surrogates.
  for (let shared = Math.min(prefix.length, suffix.length); shared >= 0; shared--) {
    const length = start + end - (isBasic ? shared : lengthOf(suffix.slice(0, shared)))
    if (length < least || length > most) continue
    if (beyond.some((rest) => suffix.startsWith(rest, shared))) continue
    if (before.some((rest) => prefix.endsWith(rest, prefix.length - shared))) continue
    if (prefix.endsWith(suffix.slice(0, shared))) yield prefix + suffix.slice(shared)
  }
  if (form !== null && forms[form].isOfLabels) for (const label of labels()) yield `${prefix}${label}${suffix}`
  else if (Math.max(start + end + 1, least) <= most)
    yield `${prefix}${letter.repeat(Math.max(1, least - start - end))}${suffix}`
}

const LABEL_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"

/** The labels of one sign, of two and of three: more than there are constants. */
function* labels(): Generator<string> {
  yield* LABEL_SIGNS
  for (const one of LABEL_SIGNS) for (const two of LABEL_SIGNS) yield `${one}${two}`
  for (const one of LABEL_SIGNS)
    for (const two of LABEL_SIGNS) for (const three of LABEL_SIGNS) yield `${one}${two}${three}`
}

/** The first letter that no constant has. The bound of all constants leaves one free. */
const freshLetter = (constants: ReadonlyArray<string>): string => {
  const used = new Set(constants.join(""))
  for (const letter of fillers()) if (!used.has(letter)) return letter
  throw new RangeError("The constants of a text use every letter.")
}

/** By length, then by code points. */
const byCodePoints = (a: string, b: string): number => {
  const [left, right] = [[...a], [...b]]
  if (left.length !== right.length) return left.length - right.length
  for (let i = 0; i < left.length; i++)
    if (left[i] !== right[i]) return left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!
  return 0
}
