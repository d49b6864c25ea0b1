/** Decodes an input against a shape; what is wrong comes back as pydantic's list. */
import { Result, Schema } from "effect"
import { type DetailItem, detailItem, type Slot } from "./detail.ts"
import { detailsOf } from "./details.ts"
import { excessCheck } from "./excess.ts"

/** A decoded input, or every problem it has. */
export type Decoded<A> = Result.Result<A, ReadonlyArray<DetailItem>>

/** Decodes inputs of one shape. */
export type Decoder<A> = (input: unknown, slot: Slot, at?: ReadonlyArray<string>) => Decoded<A>

/**
 * A decoder for a shape. Members that the shape does not have are refused.
 *
 * A good input is decoded once, stopping nowhere; only a bad one is read again for all that is wrong with it.
 * `at` is where the input stands below the slot.
 */
export const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S): Decoder<S["Type"]> => {
  const read = Schema.decodeUnknownResult(schema as never as Schema.Codec<S["Type"]>)
  const hasExcess = excessCheck(schema)
  return (input, slot, at = []) => {
    const decoded = read(input)
    if (Result.isSuccess(decoded) && (hasExcess === null || !hasExcess(input))) return Result.succeed(decoded.success)
    const all = read(input, { errors: "all", onExcessProperty: "error", reportInput: true })
    return Result.isFailure(all) ? Result.fail(detailsOf(all.failure.issue, [slot, ...at])) : Result.succeed(all.success)
  }
}

/** The problem of a body that is needed and not there. */
export const missingBody: ReadonlyArray<DetailItem> = [detailItem(["body"], "missing", "Field required")]
