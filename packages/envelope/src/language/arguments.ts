/** Reads values out of the arguments of an action by JSON pointer. Spec: `SPEC.md` section 3; RFC 6901. */

/** Replacement of removed values. */
export const REDACTED = "[redacted]"

/**
 * Arguments of which only the digest is known, and a value that was removed from arguments: no signal has such a value,
 * and it is not missing either.
 */
export const UNKNOWN: unique symbol = Symbol("unknown")

const POINTER = /^(?:\/(?:[^/~]|~[01])*)+$/
const INDEX = /^(?:0|[1-9][0-9]*)$/

/** The names and places that a pointer goes through, at least one; null where the text is no such pointer. */
export const stepsOf = (pointer: string): ReadonlyArray<string> | null =>
  POINTER.test(pointer) ? pointer.slice(1).split("/").map(unescaped) : null

const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~")

/** The value to which the steps lead; undefined where there is none, and {@link UNKNOWN} where it is not shown. */
export const valueAt = (args: unknown, steps: ReadonlyArray<string>): unknown => {
  let found = args
  for (let i = 0; i < steps.length; i++) {
    if (found === REDACTED || found === UNKNOWN) return UNKNOWN
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, steps[i]!)) return undefined
    if (Array.isArray(found) && !INDEX.test(steps[i]!)) return undefined
    found = (found as { readonly [name: string]: unknown })[steps[i]!]
  }
  return found === REDACTED ? UNKNOWN : found
}

/** The values that a signal may have: that to which its pointer leads. */
export const valuesAt = (args: unknown, pointer: string): ReadonlyArray<unknown> => [valueAt(args, stepsOf(pointer)!)]
