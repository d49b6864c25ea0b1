/** Takes secrets out of what leaves the process. */
import type { Json } from "./wire.ts"

/** Replacement of removed values. */
export const REDACTED = "[redacted]"

/** Removes values that must not leave the process. If it throws, the whole value is replaced by {@link REDACTED}. */
export type Redact = (value: Json) => Json

/** Removes nothing. */
export const keepAll: Redact = (value) => value

/** Returns a function that removes the values of these members, at any depth. Names are compared without case. */
export const redactMembers = (names: ReadonlyArray<string>): Redact => {
  if (names.length === 0) return keepAll
  const secret = new Set(names.map((name) => name.toLowerCase()))
  const walk = (value: Json): Json => {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map(walk)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        secret.has(name.toLowerCase()) ? REDACTED : walk(inner as Json)
      ])
    )
  }
  return walk
}

/** One redaction after another. */
export const redactBoth = (first: Redact, second: Redact): Redact =>
  second === keepAll ? first : first === keepAll ? second : (value) => second(first(value))

/** Applies a redaction that may throw: then nothing of the value leaves. */
export const redactSafely = (redact: Redact, value: Json | undefined): Json | undefined => {
  if (value === undefined) return undefined
  try {
    return redact(value)
  } catch {
    return REDACTED
  }
}
