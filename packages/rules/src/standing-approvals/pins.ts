/** Pins of a standing approval: decides which inputs are in its box. Pure. */
import { type Combination, memberAt, stepsOf } from "@flyball/envelope"
import type { Json } from "../records/record.ts"

/** A value that a pin names. */
export type PinValue = string | number | boolean

/**
 * A condition on one value of the signals or arguments. `path`: a JSON pointer below `/signals` or `/args`. Spec:
 * format 1 section 8, `standing_approval.proposed`; decision 0050.
 */
export type Pin = { readonly path: string } & (
  | { readonly eq: PinValue }
  | { readonly at_most: number }
  | { readonly one_of: ReadonlyArray<PinValue> }
)

/** The inputs of an action. `args` is undefined where it came without, or where what came is not all of them. */
export interface ActionInputs {
  readonly action: string | null
  readonly signals: unknown
  readonly args: unknown
}

/** The action's name and the members of its arguments, sorted; null where these are no object. Spec: decision 0050. */
export const shapeOf = ({ action, args }: ActionInputs) => ({
  action,
  args: isObject(args) ? Object.keys(args).toSorted() : null
})

/**
 * True when inputs are in a box: the same action, arguments of the same names, and every pin holds. Values without a
 * pin are free. A number that no double represents exactly is in no box. Spec: decision 0050.
 */
export const liesInBox = (
  box: {
    readonly action: string | null
    readonly args: ReadonlyArray<string> | null
    readonly pins: ReadonlyArray<Pin> | null
  },
  inputs: ActionInputs
): boolean => {
  if (box.pins === null || box.action !== inputs.action) return false
  if (box.args === null ? inputs.args !== undefined : !isObject(inputs.args)) return false
  const { args } = shapeOf(inputs)
  return JSON.stringify(args) === JSON.stringify(box.args) && box.pins.every((pin) => holds(pin, inputs))
}

/** True when a pin holds for inputs. Spec: decision 0050. */
export const holds = (pin: Pin, { args, signals }: ActionInputs): boolean => {
  const value = valueAt({ args, signals }, pin.path)
  if (value === undefined || (typeof value === "number" && !isExact(value))) return false
  if ("at_most" in pin) return typeof value === "number" && value <= pin.at_most
  return "eq" in pin ? value === pin.eq : pin.one_of.includes(value as PinValue)
}

/** The value that a JSON pointer names; undefined where there is none. */
export const valueAt = (root: unknown, pointer: string): unknown => (stepsOf(pointer) ?? []).reduce(memberAt, root)

/** The name of the signal of a pin; null for a pin on arguments, or on a value inside a signal. */
export const pinnedSignal = ({ path }: Pin): string | null => {
  const [root, name, ...more] = stepsOf(path) ?? []
  return root === "signals" && name !== undefined && more.length === 0 ? name : null
}

/** The axes whose value a pin names: the signal itself, and those that are read from the arguments at its path. */
export const pinnedAxes = (axes: Combination["compiled"]["axes"], pin: Pin): ReadonlyArray<string> => {
  const signal = pinnedSignal(pin)
  return signal !== null
    ? [signal]
    : axes.flatMap(({ from, name }) => (from !== undefined && pin.path === `/args${from}` ? [name] : []))
}

const isExact = (value: number): boolean => !Number.isInteger(value) || Number.isSafeInteger(value)

const isObject = (value: unknown): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
