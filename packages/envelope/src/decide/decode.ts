/**
 * Signals as they are sent, made points of the grid. Typed and strict: what is not declared, or not in its domain, is
 * not guessed at.
 *
 * Spec: `SPEC.md` section 11, step 4.
 */
import { elementsOf, listOf, stepsOf, TOO_MANY, valueAt } from "../language/arguments.ts"
import { leastPoint } from "../language/boxes.ts"
import type { Combination } from "../compile/compile.ts"
import { derivedFunctions } from "../language/derived.ts"
import type { Derived, SignalSource, SignalType } from "../language/envelope.ts"
import { isText, placeOfText, type TextCells } from "../language/text-cells.ts"

/** Why signals have no point. `signal` is null where the name is none that is declared: it is the caller's text. */
export interface SignalProblem {
  readonly rule: "@invalid_signal" | "@missing_signal"
  readonly signal: string | null
}

/** Decoder of the signals of a combination. */
export interface Decoder {
  readonly steps: ReadonlyArray<Step>
  readonly caller: CallerSteps
  /** Of the arguments, the server and latches. */
  readonly others: ReadonlyArray<Step>
  /** Of the list in the arguments, with the steps to it; null where no signal reads one. */
  readonly listed: { readonly list: ReadonlyArray<string>; readonly steps: ReadonlyArray<Step> } | null
  readonly derived: ReadonlyArray<DerivedStep>
  /** Points of the elements of the list that was decoded last, without those of meters; empty where there is none. */
  readonly rows: Array<Float64Array>
}

/** One signal of a combination, and where its point goes. */
export interface Step {
  readonly place: number
  readonly name: string
  readonly type: SignalType
  readonly source: SignalSource
  /** Of source `args`: where in the arguments, or in an element of the list. */
  readonly from: ReadonlyArray<string>
  readonly isListed: boolean
  readonly min: number
  readonly max: number
  readonly indices: ReadonlyMap<string, number> | null
  readonly text: TextCells | null
  /** Of a text: the one that was decoded last. */
  readonly last: { text: string | null }
  /** The point of an absent value; null where there must be one. */
  readonly absent: number | null
}

/** The caller's signals. */
export interface CallerSteps {
  readonly byName: ReadonlyMap<string, Step>
  readonly optional: ReadonlyArray<Step>
  readonly required: number
  /**
   * The names in the order in which they came last: an agent's come in the same one each time, and comparing costs less
   * than looking up.
   */
  readonly lastOrder: Array<Step>
}

interface DerivedStep extends Derived {
  readonly places: ReadonlyArray<number>
  readonly scratch: Array<number>
}

/** An action's signals and arguments, not yet checked. */
interface Sent {
  readonly signals: unknown
  readonly args?: unknown
}

/** Values of signals by name, not yet checked. */
export interface Values {
  readonly [name: string]: unknown
}

/** Prepares the decoding of a combination. */
export const decoderOf = ({ compiled, derived, signals }: Combination): Decoder => {
  let list: ReadonlyArray<string> | null = null
  const steps = signals.map((signal, place): Step => {
    const from = signal.from === null ? [] : stepsOf(signal.from)!
    const own = listOf(from)
    list ??= own
    const indices = signal.values === null ? null : new Map(signal.values.map((value, index) => [value, index]))
    const text = compiled.axes[place]!.text ?? null
    const onMissing = signal.onMissing
    const counted =
      typeof onMissing === "string" && text !== null
        ? placeOfText(text, onMissing)
        : typeof onMissing === "string"
          ? (indices!.get(onMissing) ?? null)
          : onMissing === null
            ? null
            : Number(onMissing)
    return {
      place,
      name: signal.name,
      type: signal.type,
      source: signal.source,
      from: own === null ? from : from.slice(own.length + 1),
      isListed: own !== null,
      min: signal.min,
      max: signal.max,
      indices,
      text,
      last: { text: null },
      absent: signal.optional ? leastPoint(compiled.axes[place]!) : counted
    }
  })
  const callers = steps.filter((step) => step.source === "caller")
  const optional = callers.filter((step) => step.absent !== null)
  return {
    steps,
    caller: {
      byName: new Map(callers.map((step) => [step.name, step])),
      optional,
      required: callers.length - optional.length,
      lastOrder: [...callers]
    },
    others: steps.filter((step) => step.source !== "caller" && !step.isListed),
    listed: list === null ? null : { list, steps: steps.filter(({ isListed }) => isListed) },
    rows: [],
    derived: derived.map((one) => ({
      ...one,
      places: one.args.map((arg) => signals.findIndex((signal) => signal.name === arg)),
      scratch: []
    }))
  }
}

/**
 * Writes the points of all signals and derived signals; answers what is wrong first, in the order of the axes.
 * `latches` is null outside any run.
 */
export const decode = (
  decoder: Decoder,
  { args, signals: caller }: Sent,
  server: Values,
  latches: ReadonlySet<string> | null,
  point: Float64Array
): SignalProblem | null => {
  if (typeof caller !== "object" || caller === null || Array.isArray(caller))
    return { rule: "@invalid_signal", signal: null }
  const sent = caller as Values
  if (takeSent(decoder.caller, sent, point) && decodeRest(decoder, args, server, latches, point)) return null
  const problem = firstProblem(decoder, sent, args, server, latches, point)
  if (problem === null) decodeRest(decoder, args, server, latches, point)
  return problem
}

/** Writes all points but those of the caller. Returns false if one has a problem, which `firstProblem` finds. */
const decodeRest = (
  decoder: Decoder,
  args: unknown,
  server: Values,
  latches: ReadonlySet<string> | null,
  point: Float64Array
): boolean => {
  const { listed, others, rows } = decoder
  for (let i = 0; i < others.length; i++)
    if (problemOf(others[i]!, nothing, args, server, latches, point) !== null) return false
  if (listed === null) {
    derive(decoder, point)
    return true
  }
  rows.length = 0
  for (const element of elementsOf(args, listed.list)) {
    for (const step of listed.steps)
      if (problemOf(step, nothing, element, server, latches, point) !== null) return false
    derive(decoder, point)
    rows.push(point.slice(0, decoder.steps.length + decoder.derived.length))
  }
  return true
}

const nothing: Values = Object.freeze({})

const derive = ({ derived, steps }: Decoder, point: Float64Array): void => {
  for (let i = 0; i < derived.length; i++) point[steps.length + i] = deriveAt(derived[i]!, steps, point)
}

/**
 * Goes once through what was sent, in its own order. Whether that is all there is to say: if not, `firstProblem` says
 * it in the order of the axes.
 */
const takeSent = (
  { byName, lastOrder, optional, required }: CallerSteps,
  sent: Values,
  point: Float64Array
): boolean => {
  for (let i = 0; i < optional.length; i++) point[optional[i]!.place] = optional[i]!.absent!
  let count = 0
  let needed = 0
  for (const name in sent) {
    let step: Step | undefined = lastOrder[count]
    if (step === undefined || step.name !== name) {
      step = byName.get(name)
      if (step === undefined) return false
      lastOrder[count] = step
    }
    if (!take(step, sent[name], point)) return false
    if (step.absent === null) needed++
    count++
  }
  return needed === required
}

/** Writes the point of a value, if it is one of the signal's. */
const take = (step: Step, value: unknown, point: Float64Array): boolean => {
  if (step.type === "int") {
    if (typeof value !== "number" || !(value >= step.min && value <= step.max) || Math.floor(value) !== value)
      return false
    point[step.place] = value
  } else if (step.type === "enum") {
    const index = typeof value === "string" ? step.indices!.get(value) : undefined
    if (index === undefined) return false
    point[step.place] = index
  } else if (step.text !== null) {
    // Of a list with too many elements none is read, as of a text that its form does not read.
    if (value === TOO_MANY && step.text.form !== null) point[step.place] = step.text.values.length - 1
    else if (isText(step.text, value)) {
      step.last.text = value
      point[step.place] = placeOfText(step.text, value)
    } else return false
  } else if (value === true) point[step.place] = 1
  else if (value === false) point[step.place] = 0
  else return false
  return true
}

const firstProblem = (
  { listed, steps }: Decoder,
  sent: Values,
  args: unknown,
  server: Values,
  latches: ReadonlySet<string> | null,
  point: Float64Array
): SignalProblem | null => {
  const [once, elements] = [[args], listed === null ? [] : elementsOf(args, listed.list)]
  for (const step of steps)
    for (const within of step.isListed ? elements : once) {
      const problem = problemOf(step, sent, within, server, latches, point)
      if (problem !== null) return problem
    }
  return unknownNames(steps, sent).length > 0 ? { rule: "@invalid_signal", signal: intruder(steps, sent) } : null
}

const problemOf = (
  step: Step,
  sent: Values,
  args: unknown,
  server: Values,
  latches: ReadonlySet<string> | null,
  point: Float64Array
): SignalProblem | null => {
  const { absent, name, place, source } = step
  if (source === "latch") {
    if (latches === null) return { rule: "@missing_signal", signal: name }
    point[place] = latches.has(name) ? 1 : 0
    return null
  }
  const value = source === "caller" ? sent[name] : source === "args" ? valueAt(args, step.from) : server[name]
  if (value !== undefined) return take(step, value, point) ? null : { rule: "@invalid_signal", signal: name }
  if (absent === null) return { rule: "@missing_signal", signal: name }
  point[place] = absent
  return null
}

/** Names with a value that are none of the caller's to send, in order. */
const unknownNames = (steps: ReadonlyArray<Step>, sent: Values): ReadonlyArray<string> =>
  Object.keys(sent)
    .filter((name) => sent[name] !== undefined && !steps.some((step) => step.name === name && step.source === "caller"))
    .sort()

/** The first name, in order, that a caller may not send. Null when it is declared nowhere. */
const intruder = (steps: ReadonlyArray<Step>, sent: Values): string | null =>
  steps.find((step) => step.source !== "caller" && sent[step.name] !== undefined)?.name ?? null

const deriveAt = (derived: DerivedStep, steps: ReadonlyArray<Step>, point: Float64Array): number => {
  const { places, scratch } = derived
  for (let j = 0; j < places.length; j++) {
    const value = point[places[j]!]!
    if (value < steps[places[j]!]!.min) return derived.min - 1
    scratch[j] = value
  }
  return derivedFunctions[derived.fn].compute(scratch, derived)
}

/** Names of a caller's signals that are none of its to send: not declared, or said by somebody else. In order. */
export const unknownSignals = ({ signals }: Combination, caller: unknown): ReadonlyArray<string> => {
  if (typeof caller !== "object" || caller === null) return []
  return Object.keys(caller)
    .filter((name) => !signals.some((signal) => signal.name === name && signal.source === "caller"))
    .sort()
}
