/** Encodes what a caller sent as the bytes of a part. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalizeInSlices, NotCanonical, RawJson, type Slices } from "@flyball/evidence"
import { Result } from "effect"
import { TextBytes } from "./text-bytes.ts"

/**
 * Containers that may be open at once in a value: as many as the interface takes in a whole body. Spec: api
 * "Conventions".
 */
const MAX_DEPTH = 64

/** Why a value cannot be a part. */
export type PartProblem = { readonly _tag: "TooLarge" } | { readonly _tag: "NotCanonical"; readonly message: string }

/**
 * The RFC 8785 form of a value, or the bytes received where the reader kept them because there is no such form.
 * Up to `limitBytes` of that form.
 *
 * In slices, of which most values have one. `texts` encodes; pass the same one for the parts of one act.
 */
export function* partBytes(
  value: unknown,
  texts = new TextBytes(),
  limitBytes = PART_LIMIT_BYTES
): Slices<Result.Result<Uint8Array, PartProblem>> {
  // Rare, and its bytes may be the caller's: what is committed to must not change under us.
  if (value instanceof RawJson) return Result.map(bounded(value.bytes, limitBytes), (bytes) => bytes.slice())
  try {
    return bounded(texts.of(yield* canonicalizeInSlices(value, MAX_DEPTH, limitBytes)), limitBytes)
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error
    return Result.fail(error.reason === "size" ? tooLarge : { _tag: "NotCanonical", message: error.message })
  }
}

const tooLarge: PartProblem = { _tag: "TooLarge" }

const bounded = (bytes: Uint8Array, limitBytes: number): Result.Result<Uint8Array, PartProblem> =>
  bytes.length > limitBytes ? Result.fail(tooLarge) : Result.succeed(bytes)
