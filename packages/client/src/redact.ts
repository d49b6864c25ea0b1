/** Takes secrets out of what leaves the process. */
import { REDACTED as MARK, redactMembers as redactNamed } from "@flyball/envelope"
import type { Json } from "./wire.ts"

// A constant of its own: the declarations of this package name no type of one that is not installed with it.
/** Replacement of removed values. */
export const REDACTED: string = MARK

/** Removes values that must not leave the process. If it throws, the whole value is replaced by {@link REDACTED}. */
export type Redact = (value: Json) => Json

/** Removes nothing. */
export const keepAll: Redact = (value) => value

/** Returns a function that removes the values of these members, at any depth. Names are compared without case. */
export const redactMembers = (names: ReadonlyArray<string>): Redact =>
  names.length === 0 ? keepAll : (value) => redactNamed(names, value) as Json

/** One redaction after another. */
export const redactBoth = (first: Redact, second: Redact): Redact =>
  second === keepAll ? first : first === keepAll ? second : (value) => second(first(value))

/** Applies a redaction that may throw, or answer nothing: then nothing of the value leaves. */
export const redactSafely = (redact: Redact, value: Json | undefined): Json | undefined => {
  if (value === undefined) return undefined
  try {
    const shown: unknown = redact(value)
    return shown === undefined || typeof shown === "function" ? REDACTED : (shown as Json)
  } catch {
    return REDACTED
  }
}
