/** Encodes what a caller sent as the bytes of a part. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalizeInSlices, NotCanonical, RawJson, type Slices, utf8 } from "@flyball/evidence"
import { Result } from "effect"

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

/** Bytes of the first buffer, enough for a decision as most are, and of those after it. */
const FIRST_BYTES = 4_096
const NEXT_BYTES = 65_536
/** Longer texts get a buffer of their own. */
const LONG_TEXT = 5_000
const encoder = new TextEncoder()

/**
 * Encodes texts one behind the other: a buffer for each costs more than the bytes in it, and the garbage collector as
 * much again.
 *
 * Make one for each act and let it go with it. Nobody keeps one: what is erased later must not survive in it.
 */
export class TextBytes {
  #buffer: Uint8Array = new Uint8Array(0)
  #used = 0

  /** The bytes of a well-formed text; a view that is never written to again. */
  of(text: string): Uint8Array {
    if (text.length > LONG_TEXT) return utf8(text)
    // A unit of a text has up to three bytes.
    if (text.length * 3 > this.#buffer.length - this.#used) {
      this.#buffer = new Uint8Array(Math.max(text.length * 3, this.#buffer.length === 0 ? FIRST_BYTES : NEXT_BYTES))
      this.#used = 0
    }
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(this.#used))
    return this.#buffer.subarray(this.#used, (this.#used += written))
  }
}
