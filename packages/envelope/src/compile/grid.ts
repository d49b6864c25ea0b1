/**
 * The axes of some layers together. The innermost layer that declares a signal says what its values are; outer layers
 * may know fewer or more of them.
 * Whether it may be missing the strictest layer says, and what a meter or ratio holds at most those that declare it: or
 * one more layer could loosen what another says.
 *
 * Spec: `SPEC.md` section 9.
 */
import { derivedFunctions } from "../language/derived.ts"
import type { Axis } from "../language/compiled.ts"
import type { Condition, Derived, Envelope, Meter, Signal, Test } from "../language/envelope.ts"
import { isListed, listPart } from "../language/read-signals.ts"
import type { Finding, ReadingCode } from "../language/findings.ts"
import { MAX_CONSTANT_CODE_POINTS, MAX_TEXT_CELLS, MAX_TEXT_CONSTANTS } from "../language/limits.ts"
import { constantsOf, mostCells, type TextConstants, textCells } from "../language/text-cells.ts"

/** Everything that some layers name, each once, by name; and the axes: signals, then derived signals, then meters. */
export interface LayerGrid {
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly meters: ReadonlyArray<Meter>
  readonly axes: ReadonlyArray<Axis>
  readonly findings: ReadonlyArray<Finding>
}

/** The grid of some layers, outermost first. With findings it is not to be used. */
export const gridOf = (layers: ReadonlyArray<Envelope>): LayerGrid => {
  const findings: Array<Finding> = []
  const say = (code: ReadingCode, path: string, message: string): void => {
    findings.push({ code, path, message })
  }
  const declared = layers.flatMap((layer) => layer.signals)
  const required = new Set(declared.filter(isRequired).map(({ name }) => name))
  const signals = byName(
    declared,
    (signal) => signal.name,
    (outer, inner) => {
      const difference = differs(outer, inner, required.has(inner.name))
      if (difference !== null)
        say(
          "E105",
          `/signals/${inner.name}`,
          `An outer layer declares ${inner.name} with another ${difference}. Declare it alike.`
        )
    }
  ).map((signal) => (required.has(signal.name) ? { ...signal, optional: false, onMissing: null } : signal))
  const listed = signals.filter(isListed)
  for (const { from, name } of listed)
    if (listPart(from) !== listPart(listed[0]!.from))
      say(
        "E105",
        `/signals/${name}`,
        `Another layer decides the elements of ${listPart(listed[0]!.from)}. Read one list.`
      )
  const derived = byName(
    layers.flatMap((layer) => layer.derived),
    (one) => one.name,
    (outer, inner) => {
      if (outer.fn !== inner.fn || !isSameList(outer.args, inner.args))
        say("E103", `/derived/${inner.name}`, `An outer layer computes another ${inner.name}. Rename one of them.`)
      else if (isCapped(inner) && outer.max !== inner.max)
        say(
          "E105",
          `/derived/${inner.name}`,
          `In an outer layer ${inner.name} is at most ${outer.max}, here ${inner.max}: of something in nothing ` +
            `it would be another share. Declare ${inner.args[0]} alike.`
        )
    }
  ).map((one) => {
    const domain = derivedFunctions[one.fn].domain(
      one.args.map((arg) => signals.find((signal) => signal.name === arg)!)
    )
    if (domain === null)
      say(
        "E105",
        `/derived/${one.name}`,
        `With the domains of all layers ${one.fn} could leave the integers. Narrow min and max of its arguments.`
      )
    return domain === null || isCapped(one) ? one : { ...one, ...domain }
  })
  for (const one of derived)
    if (signals.some((signal) => signal.name === one.name))
      say("E103", `/derived/${one.name}`, `Another layer has a signal ${one.name}. Rename one of them.`)
  const meters = byName(
    layers.flatMap((layer) => layer.meters),
    (meter) => meter.id,
    (outer, inner) => {
      if (JSON.stringify({ ...outer, max: 0 }) !== JSON.stringify({ ...inner, max: 0 }))
        say("E103", `/meters/${inner.id}`, `An outer layer has another meter ${inner.id}. Rename one of them.`)
      else if (outer.max !== inner.max)
        say(
          "E105",
          `/meters/${inner.id}`,
          `In an outer layer the meter ${inner.id} holds ${outer.max} at most, here ${inner.max}. Declare ` +
            `${inner.of} alike, or rename one of them.`
        )
    }
  )
  for (const { id, of } of meters) {
    const amount = signals.find((signal) => signal.name === of) ?? derived.find((one) => one.name === of)
    if (amount !== undefined && amount.min < 0)
      say(
        "E105",
        `/meters/${id}`,
        `A meter adds up what is never below 0, and with the domains of all layers ${of} can be ${amount.min}. ` +
          "Raise min."
      )
  }
  const texts = new Map(
    signals.flatMap((signal) =>
      signal.type === "text" ? [[signal.name, constantsOf(signal, testsOf(layers, signal.name))] as const] : []
    )
  )
  for (const [name, constants] of texts) {
    const excess = excessOf(constants)
    if (excess === null) continue
    say("E113", `/signals/${name}`, `All layers together name ${excess} of the text ${name}. Use fewer.`)
    texts.delete(name)
  }
  return {
    signals,
    derived,
    meters,
    axes: [
      ...signals.map((signal) => signalAxis(signal, texts.get(signal.name))),
      ...derived.map((one) => derivedAxis(one, signals)),
      ...meters.map(meterAxis)
    ],
    findings
  }
}

/** One of each name, the last, in the order of names. */
const byName = <A>(
  all: ReadonlyArray<A>,
  nameOf: (one: A) => string,
  again: (outer: A, inner: A) => void
): ReadonlyArray<A> => {
  const found = new Map<string, A>()
  for (const one of all) {
    const outer = found.get(nameOf(one))
    if (outer !== undefined) again(outer, one)
    found.set(nameOf(one), one)
  }
  return [...found.keys()].sort().map((name) => found.get(name)!)
}

/** True when a layer refuses to continue without the signal. A latch is always there. */
const isRequired = ({ onMissing, optional, source }: Signal): boolean =>
  source !== "latch" && !optional && onMissing === null

/**
 * A ratio ends at the greatest value of its domain, and is that where the whole is 0: its value hangs on its domain. Of
 * the other functions none does.
 */
const isCapped = ({ fn }: Derived): boolean => fn === "ratio_bp@1"

/**
 * A declaration may differ in values and bounds, for these the innermost decides; in nothing else. What a missing value
 * counts as is of no account where some layer
 * requires one, which is denied then.
 */
const differs = (a: Signal, b: Signal, isRequired: boolean): string | null => {
  if (a.type !== b.type) return "type"
  if (a.source !== b.source) return "source"
  if (a.from !== b.from) return "place in the arguments"
  if (a.unit !== b.unit) return "unit"
  if (a.setBy !== b.setBy) return "set_by"
  if (a.ordered !== b.ordered) return "order"
  if (a.form !== b.form) return "form"
  if (a.base !== b.base) return "base"
  if (!isRequired && (a.optional !== b.optional || a.onMissing !== b.onMissing)) return "meaning of its absence"
  return a.ordered && !isSameList(a.values!, b.values!) ? "order of values" : null
}

const isSameList = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((one, place) => one === b[place])

/** All tests of a signal in some layers, exceptions and waivers too. */
const testsOf = (layers: ReadonlyArray<Envelope>, name: string): ReadonlyArray<Test> => {
  const testsIn = (condition: Condition): ReadonlyArray<Test> =>
    condition.kind === "test"
      ? condition.name === name
        ? [condition.test]
        : []
      : condition.kind === "not"
        ? testsIn(condition.of)
        : condition.of.flatMap(testsIn)
  return layers.flatMap(({ rules }) =>
    rules.flatMap(({ unless, when }) => [...when, ...unless.flat()].flatMap(testsIn))
  )
}

/** In words, the constants of a text that are too many; null where they are not. */
const excessOf = (constants: TextConstants): string | null => {
  for (const kind of ["prefixes", "suffixes", "cuts", "equals"] as const)
    if (constants[kind].length > MAX_TEXT_CONSTANTS[kind])
      return `${constants[kind].length} ${constantWords[kind]}, and ${MAX_TEXT_CONSTANTS[kind]} is the most,`
  const codePoints = [...[...constants.prefixes, ...constants.suffixes, ...constants.equals].join("")].length
  if (codePoints > MAX_CONSTANT_CODE_POINTS)
    return `${codePoints} characters of constants, and ${MAX_CONSTANT_CODE_POINTS} is the most,`
  const cells = mostCells(constants)
  return cells > MAX_TEXT_CELLS
    ? `beginnings, ends and lengths that combine to ${cells} cells, and ${MAX_TEXT_CELLS} is the most,`
    : null
}

const constantWords = {
  prefixes: "prefixes or roots",
  suffixes: "suffixes or roots",
  cuts: "ends of lengths",
  equals: "texts"
} as const

const signalAxis = (signal: Signal, constants: TextConstants | undefined): Axis => {
  const text = constants === undefined ? undefined : textCells(constants)
  return {
    name: signal.name,
    kind: signal.type,
    origin: signal.source,
    min: signal.min,
    max: text === undefined ? signal.max : text.values.length - 1,
    values: text === undefined ? signal.values : text.values,
    mayBeAbsent: signal.optional,
    ...(signal.from === null ? {} : { from: signal.from }),
    ...(text === undefined ? {} : { text })
  }
}

const derivedAxis = (derived: Derived, signals: ReadonlyArray<Signal>): Axis => ({
  name: derived.name,
  kind: "int",
  origin: "derived",
  min: derived.min,
  max: derived.max,
  values: null,
  mayBeAbsent: derived.args.some((arg) => signals.some((signal) => signal.name === arg && signal.optional))
})

const meterAxis = (meter: Meter): Axis => ({
  name: `meter:${meter.id}`,
  kind: "int",
  origin: "meter",
  min: 0,
  max: meter.max,
  values: null,
  mayBeAbsent: false
})
