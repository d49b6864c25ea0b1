/** What a caller sent, as the bytes that are committed to. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalBytes, NotCanonical, RawJson } from "@flyball/evidence"
import { Result } from "effect"

/** Containers that may be open at once in a value: as many as the interface takes in a whole body. Spec: api "Conventions". */
const MAX_DEPTH = 64

/** Why a value cannot be a part. */
export type PartProblem =
  | { readonly _tag: "TooLarge"; readonly bytes: number }
  | { readonly _tag: "NotCanonical"; readonly message: string }

/** The RFC 8785 form of a value, or the bytes received where the reader kept them because there is no such form; up to `PART_LIMIT_BYTES` of that form. Pure. */
export const partBytes = (value: unknown): Result.Result<Uint8Array, PartProblem> => {
  const bytes = value instanceof RawJson ? Result.succeed(value.bytes) : canonical(value)
  return Result.flatMap(bytes, (found) =>
    found.length > PART_LIMIT_BYTES ? Result.fail<PartProblem>({ _tag: "TooLarge", bytes: found.length }) : Result.succeed(found))
}

const canonical = (value: unknown): Result.Result<Uint8Array, PartProblem> =>
  Result.try({
    try: () => canonicalBytes(value, MAX_DEPTH),
    catch: (error): PartProblem => {
      if (error instanceof NotCanonical) return { _tag: "NotCanonical", message: error.message }
      throw error
    }
  })
