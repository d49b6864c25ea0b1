/** The part `signals`, back as a value. */
import { canonicalBytes, equalBytes, NotCanonical, readJson } from "@flyball/evidence"
import { PlainSignals } from "./plain-signals.ts"

const plain = new PlainSignals()

/** Containers that may be open at once, as in all that callers send. */
const MAX_DEPTH = 64

/**
 * Signals as they are decided on: numbers as the nearest doubles, in whatever order and spelling they came. Null, which
 * no envelope takes, where they have no RFC 8785 form. Spec: `envelope/1` section 11, step 4.
 */
export const signalsOf = (bytes: Uint8Array): unknown => plain.read(bytes) ?? formed(bytes)?.value ?? null

/**
 * Signals as they can be shown; null too where the bytes are not the form of their value, as with a number of more
 * digits than a double has.
 */
export const shownSignals = (bytes: Uint8Array): unknown => {
  const value = plain.read(bytes)
  if (value !== null) return value
  const found = formed(bytes)
  return found !== null && equalBytes(found.form, bytes) ? found.value : null
}

/** A value and its form. */
const formed = (bytes: Uint8Array): { readonly value: unknown; readonly form: Uint8Array } | null => {
  const read = readJson(bytes, { maxDepth: MAX_DEPTH })
  if (!read.ok) return null
  try {
    return { value: read.value, form: canonicalBytes(read.value, MAX_DEPTH) }
  } catch (error) {
    if (error instanceof NotCanonical) return null
    throw error
  }
}
