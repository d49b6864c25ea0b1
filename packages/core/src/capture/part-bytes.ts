/** What a caller sent, as the bytes that are committed to. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalize, NotCanonical, RawJson } from "@flyball/evidence"
import { Result } from "effect"
import { TextBytes } from "./text-bytes.ts"

/** Containers that may be open at once in a value: as many as the interface takes in a whole body. Spec: api "Conventions". */
const MAX_DEPTH = 64

/** Why a value cannot be a part. */
export type PartProblem =
  | { readonly _tag: "TooLarge"; readonly bytes: number }
  | { readonly _tag: "NotCanonical"; readonly message: string }

/**
 * The RFC 8785 form of a value, or the bytes received where the reader kept them because there is no such form; up to `PART_LIMIT_BYTES` of that form.
 *
 * `texts` encodes; pass the same one for the parts of one act.
 */
export const partBytes = (value: unknown, texts = new TextBytes()): Result.Result<Uint8Array, PartProblem> => {
  // Rare, and its bytes may be the caller's: what is committed to must not change under us.
  if (value instanceof RawJson) return Result.map(bounded(value.bytes), (bytes) => bytes.slice())
  try {
    return bounded(texts.of(canonicalize(value, MAX_DEPTH)))
  } catch (error) {
    if (error instanceof NotCanonical) return Result.fail({ _tag: "NotCanonical", message: error.message })
    throw error
  }
}

const bounded = (bytes: Uint8Array): Result.Result<Uint8Array, PartProblem> =>
  bytes.length > PART_LIMIT_BYTES ? Result.fail({ _tag: "TooLarge", bytes: bytes.length }) : Result.succeed(bytes)
