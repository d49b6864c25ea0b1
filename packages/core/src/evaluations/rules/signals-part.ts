/** The part `signals`, back as a value. */
import { canonicalBytes, equalBytes, fromUtf8, NotCanonical } from "@flyball/evidence"
import { PlainSignals } from "./plain-signals.ts"

const plain = new PlainSignals()

/** Signals as they are decided on; null, which no envelope takes, where the bytes have no exact form. */
export const signalsOf = (bytes: Uint8Array): unknown => plain.read(bytes) ?? anySignals(bytes)

const anySignals = (bytes: Uint8Array): unknown => {
  const text = fromUtf8(bytes)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return equalBytes(canonicalBytes(value, 64), bytes) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NotCanonical) return null
    throw error
  }
}
