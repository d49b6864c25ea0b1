/** Reads the parts `signals` and `args` back as values. */
import { UNKNOWN } from "@flyball/envelope"
import { canonicalBytes, equalBytes, NotCanonical, readJson } from "@flyball/evidence"

/** Containers that may be open at once: the limit of all request bodies. */
const MAX_DEPTH = 64

/**
 * Signals as the evaluation uses them: numbers are the nearest doubles; order and spelling do not matter.
 * Null, which no envelope accepts, if they have no RFC 8785 form. Spec: `envelope/1` section 11, step 4.
 */
export const signalsOf = (bytes: Uint8Array): unknown => formed(bytes)?.value ?? null

/**
 * Arguments as the evaluation uses them: undefined where the action has none, `UNKNOWN` where only their digest is
 * there. Spec: `envelope/1` section 3.
 */
export const argsOf = (bytes: Uint8Array | null | undefined, digest: unknown): unknown =>
  bytes != null ? signalsOf(bytes) : digest == null ? undefined : UNKNOWN

/**
 * Signals for display. Null if the bytes are not the RFC 8785 form of their value, as with a number that has more
 * digits than a double.
 */
export const shownSignals = (bytes: Uint8Array): unknown => {
  const found = formed(bytes)
  return found !== null && equalBytes(found.form, bytes) ? found.value : null
}

/** A value and its RFC 8785 form; null if there is none. */
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
