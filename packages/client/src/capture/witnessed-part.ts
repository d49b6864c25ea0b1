/** Reduces arguments and results to what a decision has room for. */
import { actionDigest } from "../action-digest.ts"
import type { Json } from "../wire.ts"

/**
 * Largest arguments and results that are witnessed in full; the rest by size and digest. The service refuses a decision
 * whose part is above 1 MiB, and then the call would not be in the record at all. Unit: bytes of UTF-8.
 */
export const MAX_WITNESSED_BYTES = 512 * 1_024

/** A value as it is witnessed: a large one by its size and digest. Take secrets out of it before. */
export const witnessedPart = (value: Json): Json => {
  const text = JSON.stringify(value)
  if (text.length <= MAX_WITNESSED_BYTES / 3) return value
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= MAX_WITNESSED_BYTES) return value
  return { withheld: "too_large", bytes, ...digestOf(value) }
}

/** The digest of a value; left out where it has no canonical form. */
const digestOf = (value: Json): { readonly digest?: string } => {
  try {
    return { digest: actionDigest(value) }
  } catch {
    return {}
  }
}
