/** In words, why signals have no point: what was expected, and the type of what was received. */
import type { Combination } from "../compile/compile.ts"
import type { Signal } from "../language/envelope.ts"
import type { SignalProblem } from "./decode.ts"

/** Most names or values that one sentence lists. */
const MAX_LISTED = 16

/**
 * Describes a problem of signals. `sent` are the received signals; undefined if they were erased. Values are described
 * by type and bounds and never quoted, and undeclared names are not repeated. Spec: `envelope/1` section 11, step 4.
 */
export const signalWords = ({ signals }: Combination, { rule, signal: name }: SignalProblem, sent: unknown): string => {
  if (rule === "@missing_signal" && (name === null || name === "run_id"))
    return "A meter or a latch counts by run, and the request names none: expected run_id, received nothing."
  const signal = signals.find((one) => one.name === name)
  if (signal === undefined) return undeclared(signals, sent)
  const expected = `\`${signal.name}\` should be ${expectedOf(signal)}`
  if (rule === "@missing_signal")
    return signal.source === "latch"
      ? `\`${signal.name}\` is remembered by run, and the request names none: expected run_id, received nothing.`
      : `${expected}; received nothing${bySource(signal)}.`
  const value = isMap(sent) ? sent[signal.name] : undefined
  if (signal.source !== "caller")
    return value === undefined
      ? `${expected}; the service has another value${bySource(signal)}.`
      : `\`${signal.name}\` comes from ${signal.source === "server" ? "the service" : "a latch"}: expected no value ` +
          `from the caller, received ${typeWords(value)}.`
  return value === undefined ? `${expected}.` : `${expected}; received ${receivedOf(signal, value)}.`
}

const isMap = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const bySource = ({ source }: Signal): string =>
  source === "server" ? ": the service takes it from the agent's registration" : ""

const undeclared = (signals: ReadonlyArray<Signal>, sent: unknown): string => {
  const names = signals.filter(({ source }) => source === "caller").map(({ name }) => name)
  const declared = names.length === 0 ? "none" : `one of ${listed(names)}`
  return sent !== undefined && !isMap(sent)
    ? "The signals should be an object of values by name; received " +
        `${sent === null ? "no exact JSON" : typeWords(sent)}.`
    : `A signal has a name that no envelope in force declares: expected ${declared}; received another name.`
}

const expectedOf = ({ max, min, type, unit, values }: Signal): string =>
  type === "int"
    ? `an integer from ${min} to ${max}${unit === null ? "" : ` (${unit})`}`
    : type === "bool"
      ? "true or false"
      : `one of ${listed(values ?? [])}`

const receivedOf = ({ max, min, type }: Signal, value: unknown): string => {
  if (type === "enum" && typeof value === "string") return "another string"
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
  const shown = names.slice(0, MAX_LISTED).map((name) => `\`${name}\``)
  const more = names.length - shown.length
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
}
