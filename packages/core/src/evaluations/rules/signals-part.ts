/** The part `signals`, back as a value. */
import { canonicalBytes, equalBytes, fromUtf8, NotCanonical } from "@flyball/evidence"

/** Signals as they are decided on; null, which no envelope takes, where the bytes have no exact form. */
export const signalsOf = (bytes: Uint8Array): unknown => {
  const text = fromUtf8(bytes)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    if (isPlain(value) && !text.includes("\\u") && JSON.stringify(value) === text) return value
    return equalBytes(canonicalBytes(value, 64), bytes) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NotCanonical) return null
    throw error
  }
}

/**
 * Whether an object is flat and has its names in order: its exact form is then what JavaScript writes, but for texts that are not well-formed, which have an escape.
 * Nearly all signals are, and writing them anew takes as long as deciding.
 */
const isPlain = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  let before: string | null = null
  for (const [name, one] of Object.entries(value)) {
    if ((before !== null && before >= name) || (typeof one === "object" && one !== null)) return false
    before = name
  }
  return true
}
