/**
 * Signals as they are sent, made points of the grid. Typed and strict: what is not declared, or not in its domain, is not guessed at.
 *
 * Spec: `SPEC.md` section 11, step 4.
 */
import { leastPoint } from "./boxes.ts"
import type { Combination } from "./compile.ts"
import { derivedFunctions } from "./derived.ts"
import type { Derived, SignalSource, SignalType } from "./envelope.ts"

/** Why signals have no point. `signal` is null where the name is none that is declared: it is the caller's text. */
export interface SignalProblem {
  readonly rule: "@invalid_signal" | "@missing_signal"
  readonly signal: string | null
}

/** How to decode the signals of a combination. */
export interface Decoder {
  readonly steps: ReadonlyArray<Step>
  readonly derived: ReadonlyArray<DerivedStep>
  readonly hasLatches: boolean
}

interface Step {
  readonly name: string
  readonly type: SignalType
  readonly source: SignalSource
  readonly min: number
  readonly max: number
  readonly indices: ReadonlyMap<string, number> | null
  /** The point of an absent value; null where there must be one. */
  readonly absent: number | null
}

interface DerivedStep extends Derived {
  readonly places: ReadonlyArray<number>
  readonly scratch: Array<number>
}

/** Values by name, as they come. */
export interface Values {
  readonly [name: string]: unknown
}

/** Prepares the decoding of a combination. */
export const decoderOf = ({ compiled, derived, signals }: Combination): Decoder => ({
  steps: signals.map((signal, i) => {
    const indices = signal.values === null ? null : new Map(signal.values.map((value, index) => [value, index]))
    const onMissing = signal.onMissing
    const counted = typeof onMissing === "string" ? indices!.get(onMissing) ?? null : onMissing === null ? null : Number(onMissing)
    return { name: signal.name, type: signal.type, source: signal.source, min: signal.min, max: signal.max, indices, absent: signal.optional ? leastPoint(compiled.axes[i]!) : counted }
  }),
  derived: derived.map((one) => ({ ...one, places: one.args.map((arg) => signals.findIndex((signal) => signal.name === arg)), scratch: [] })),
  hasLatches: signals.some((signal) => signal.source === "latch")
})

/** Writes the points of all signals and derived signals; answers what is wrong first, in the order of the axes. `latches` is null outside any run. */
export const decode = (decoder: Decoder, caller: unknown, server: Values, latches: ReadonlySet<string> | null, point: Float64Array): SignalProblem | null => {
  if (typeof caller !== "object" || caller === null || Array.isArray(caller)) return { rule: "@invalid_signal", signal: null }
  const sent = caller as Values
  const { derived, steps } = decoder
  let used = 0
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    if (step.source === "latch") {
      if (latches === null) return { rule: "@missing_signal", signal: step.name }
      point[i] = latches.has(step.name) ? 1 : 0
      continue
    }
    const isCallers = step.source === "caller"
    const value = isCallers ? sent[step.name] : server[step.name]
    if (value === undefined) {
      if (step.absent === null) return { rule: "@missing_signal", signal: step.name }
      point[i] = step.absent
      continue
    }
    if (isCallers) used++
    // By the type of what was sent: three comparisons settle nearly every signal.
    if (typeof value === "number" && step.type === "int") {
      if (!(Number.isSafeInteger(value) && value >= step.min && value <= step.max)) return { rule: "@invalid_signal", signal: step.name }
      point[i] = value
    } else if (typeof value === "string" && step.indices !== null) {
      const index = step.indices.get(value)
      if (index === undefined) return { rule: "@invalid_signal", signal: step.name }
      point[i] = index
    } else if (typeof value === "boolean" && step.type === "bool") point[i] = value ? 1 : 0
    else return { rule: "@invalid_signal", signal: step.name }
  }
  let count = 0
  for (const _ in sent) count++
  if (count !== used && unknownNames(steps, sent).length > 0) return { rule: "@invalid_signal", signal: intruder(steps, sent) }
  for (let i = 0; i < derived.length; i++) point[steps.length + i] = deriveAt(derived[i]!, steps, point)
  return null
}

/** Names with a value that are none of the caller's to send, in order. */
const unknownNames = (steps: ReadonlyArray<Step>, sent: Values): ReadonlyArray<string> =>
  Object.keys(sent).filter((name) => sent[name] !== undefined && !steps.some((step) => step.name === name && step.source === "caller")).sort()

/** The first name, in order, that a caller may not send. Null when it is declared nowhere. */
const intruder = (steps: ReadonlyArray<Step>, sent: Values): string | null => steps.find((step) => step.source !== "caller" && sent[step.name] !== undefined)?.name ?? null

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
  return Object.keys(caller).filter((name) => !signals.some((signal) => signal.name === name && signal.source === "caller")).sort()
}
