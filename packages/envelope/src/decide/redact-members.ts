/** Removes members of what is recorded. Spec: `envelope/1` section 7, `redact_fields`. */

import { REDACTED } from "../language/arguments.ts"

/** The value without those of these members, at any depth. Names are compared without case. */
export const redactMembers = (names: ReadonlyArray<string>, value: unknown): unknown => {
  const secret = new Set(names.map((name) => name.toLowerCase()))
  const walk = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner
    if (Array.isArray(inner)) return inner.map(walk)
    return Object.fromEntries(
      Object.entries(inner).map(([name, member]) => [name, secret.has(name.toLowerCase()) ? REDACTED : walk(member)])
    )
  }
  return walk(value)
}
