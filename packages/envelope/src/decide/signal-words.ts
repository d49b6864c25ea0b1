/** In words, why signals have no point: what was expected, and the type of what was received. */
import type { Combination } from "../compile/compile.ts"
import { NO_LIST, TOO_MANY, UNKNOWN, valuesAt } from "../language/arguments.ts"
import type { Signal } from "../language/envelope.ts"
import { MAX_ELEMENTS, MAX_TEXT } from "../language/limits.ts"
import { isValueOf } from "../language/read-signals.ts"
import { type SignalProblem, unknownSignals } from "./decode.ts"

/** Most names or values that one sentence lists. */
const MAX_LISTED = 16

/** Characters of a caller's own name that are repeated. */
const MAX_NAME_CHARACTERS = 64

/**
 * Names the signal of a problem: the declared one, or the first that is not declared; null where there is none, or it
 * was erased. Spec: `envelope/1` section 11, step 4.
 */
export const namedSignal = (combination: Combination, { signal }: SignalProblem, sent: unknown): string | null =>
  signal ?? (isMap(sent) ? (unknownSignals(combination, sent)[0]?.slice(0, MAX_NAME_CHARACTERS) ?? null) : null)

/**
 * Describes a problem of signals. `sent` are the received signals, `args` the arguments; undefined if they were erased.
 * Values are described by type and bounds and never quoted; the name of an undeclared one is. Spec: `envelope/1`
 * section 11, step 4.
 */
export const signalWords = (
  combination: Combination,
  problem: SignalProblem,
  sent: unknown,
  args?: unknown
): string => {
  const { signals } = combination
  const { rule, signal: name } = problem
  if (rule === "@missing_signal" && (name === null || name === "run_id"))
    return "A meter or a latch counts by run, and the request names none: expected run_id, received nothing."
  const signal = signals.find((one) => one.name === name)
  if (signal === undefined) return undeclared(signals, namedSignal(combination, problem, sent), sent)
  const expected = `\`${signal.name}\` should be ${expectedOf(signal)}`
  const value = isMap(sent) ? sent[signal.name] : undefined
  if (signal.from !== null && value === undefined) return `${expected}; ${argumentWords(signal, signal.from, args)}.`
  if (rule === "@missing_signal")
    return signal.source === "latch"
      ? `\`${signal.name}\` is remembered by run, and the request names none: expected run_id, received nothing.`
      : `${expected}; received nothing${bySource(signal)}.`
  if (signal.source !== "caller")
    return value === undefined
      ? `${expected}; the service has another value${bySource(signal)}.`
      : `\`${signal.name}\` comes from ${origins[signal.source]}: expected no value ` +
          `from the caller, received ${typeWords(value)}.`
  return value === undefined ? `${expected}.` : `${expected}; received ${receivedOf(signal, value)}.`
}

const origins = { args: "the arguments", server: "the service", latch: "a latch" } as const

const noValues: ReadonlyMap<unknown, string> = new Map([
  [UNKNOWN, "a value that is not shown"],
  [NO_LIST, "no list"],
  [TOO_MANY, `more than ${MAX_ELEMENTS} elements`]
])

const argumentWords = (signal: Signal, from: string, args: unknown): string => {
  const value = valuesAt(args, from).find((one) => typeof one === "symbol" || !isValueOf(signal, one))
  const found = value === undefined ? "nothing" : (noValues.get(value) ?? receivedOf(signal, value))
  return `the arguments have ${found} at \`${from}\``
}

const isMap = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const bySource = ({ source }: Signal): string =>
  source === "server" ? ": the service takes it from the agent's registration" : ""

const undeclared = (signals: ReadonlyArray<Signal>, name: string | null, sent: unknown): string => {
  const names = signals.filter(({ source }) => source === "caller").map(({ name }) => name)
  const declared = names.length === 0 ? "none" : `one of ${listed(names)}`
  if (sent !== undefined && !isMap(sent))
    return `The signals should be an object of values by name; received ${
      sent === null ? "no exact JSON" : typeWords(sent)
    }.`
  return `${name === null ? "A signal" : quoted(name)} is declared by no envelope in force: expected ${declared}.`
}

const expectedOf = ({ form, max, min, type, unit, values }: Signal): string =>
  type === "int"
    ? `an integer from ${min} to ${max}${unit === null ? "" : ` (${unit})`}`
    : type === "bool"
      ? "true or false"
      : type === "text"
        ? `a text${form === null ? ` of at most ${MAX_TEXT} characters` : ""}`
        : `one of ${listed(values ?? [])}`

const receivedOf = ({ max, min, type }: Signal, value: unknown): string => {
  if (type === "enum" && typeof value === "string") return "another string"
  if (type === "text" && typeof value === "string") return "a longer one"
  if (type !== "int" || typeof value !== "number") return typeWords(value)
  if (!Number.isInteger(value)) return "a number with a fraction"
  return value < min ? `an integer below ${min}` : value > max ? `an integer above ${max}` : "an integer"
}

const typeWords = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const listed = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, MAX_LISTED).map(quoted)
  const more = names.length - shown.length
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
}

/** A name in a sentence. A caller's own may have any characters: those of control and format are left out. */
const quoted = (name: string): string => `\`${name.replaceAll(/[\p{C}`]/gu, "")}\``
