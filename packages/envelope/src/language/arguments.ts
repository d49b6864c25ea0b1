/** Reads values out of the arguments of an action by JSON pointer. Spec: `SPEC.md` section 3; RFC 6901. */

import { MAX_ELEMENTS } from "./limits.ts"

/** Replacement of removed values. */
export const REDACTED = "[redacted]"

/**
 * Arguments of which only the digest is known, and a value that was removed from arguments: no signal has such a value,
 * and it is not missing either.
 */
export const UNKNOWN: unique symbol = Symbol("unknown")

/** The value of every signal of a list that has more elements than are decided. */
export const TOO_MANY: unique symbol = Symbol("too many")

/** The value of every signal of a list where there is no list. */
export const NO_LIST: unique symbol = Symbol("no list")

/** The step that stands for each element of a list. */
export const EACH = "*"

const POINTER = /^(?:\/(?:[^/~]|~[01])*)+$/
const INDEX = /^(?:0|[1-9][0-9]*)$/

/** The names and places that a pointer goes through, at least one; null where the text is no such pointer. */
export const stepsOf = (pointer: string): ReadonlyArray<string> | null =>
  POINTER.test(pointer) ? pointer.slice(1).split("/").map(unescaped) : null

const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~")

/** The own member of an object or the element of a list; undefined where there is none. Spec: RFC 6901 section 4. */
export const memberAt = (value: unknown, step: string): unknown =>
  typeof value === "object" &&
  value !== null &&
  Object.hasOwn(value, step) &&
  !(Array.isArray(value) && !INDEX.test(step))
    ? (value as { readonly [name: string]: unknown })[step]
    : undefined

/** The value to which the steps lead; undefined where there is none, and {@link UNKNOWN} where it is not shown. */
export const valueAt = (args: unknown, steps: ReadonlyArray<string>): unknown => {
  let found = args
  for (let i = 0; i < steps.length; i++) {
    if (found === REDACTED) return UNKNOWN
    if (typeof found === "symbol") return found
    found = memberAt(found, steps[i]!)
  }
  return found === REDACTED ? UNKNOWN : found
}

/** The steps to the list over which a pointer goes; null where it goes over none. */
export const listOf = (steps: ReadonlyArray<string>): ReadonlyArray<string> | null =>
  steps.includes(EACH) ? steps.slice(0, steps.indexOf(EACH)) : null

/**
 * The elements of a list, each of which is decided. One that is undefined stands for no list and for an empty one,
 * {@link UNKNOWN} for a list that is not shown, {@link NO_LIST} for another value, and {@link TOO_MANY} for a list of
 * more than 256.
 */
export const elementsOf = (args: unknown, list: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = valueAt(args ?? undefined, list)
  if (found === undefined || typeof found === "symbol") return [found]
  if (!Array.isArray(found)) return [NO_LIST]
  return found.length === 0 ? [undefined] : found.length > MAX_ELEMENTS ? [TOO_MANY] : found
}

/** The values that a signal has: that to which its pointer leads, or one for each element of its list. */
export const valuesAt = (args: unknown, pointer: string): ReadonlyArray<unknown> => {
  const steps = stepsOf(pointer)!
  const list = listOf(steps)
  return list === null
    ? [valueAt(args, steps)]
    : elementsOf(args, list).map((element) => valueAt(element, steps.slice(list.length + 1)))
}
