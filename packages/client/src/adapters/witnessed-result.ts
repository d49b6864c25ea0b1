/** Reduces a tool's result to the members that are witnessed. */
import { actionDigest } from "../enforce/action-digest.ts"
import type { Json } from "../wire.ts"

/** Largest arguments and results that are witnessed in full; the rest by size and digest. Unit: bytes of UTF-8. */
export const MAX_WITNESSED_BYTES = 512 * 1_024

/** A result as it is witnessed: a large one by its size and digest. */
export const witnessedResult = (value: Json): Json => {
  const text = JSON.stringify(value)
  if (text.length <= MAX_WITNESSED_BYTES / 3) return value
  const bytes = new TextEncoder().encode(text).length
  return bytes <= MAX_WITNESSED_BYTES ? value : { withheld: "too_large", bytes, digest: actionDigest(value) }
}
