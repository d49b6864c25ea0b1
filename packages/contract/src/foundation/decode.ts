/** Decodes an input against a shape. Problems come back in pydantic's format. */
import { Result, Schema } from "effect"
import { type DetailItem, detailItem, type Slot } from "./detail.ts"
import { detailsOf, MAX_DETAILS } from "./details.ts"
import { excessCheck } from "./excess.ts"
import { inputBounds, type LongList } from "./input-bounds.ts"

/** A decoded input, or every problem it has. */
export type Decoded<A> = Result.Result<A, ReadonlyArray<DetailItem>>

/** Decodes inputs of one shape. */
export type Decoder<A> = (input: unknown, slot: Slot, at?: ReadonlyArray<string>) => Decoded<A>

/**
 * Makes a decoder for a shape. Members that the shape does not have are refused, or ignored.
 *
 * A valid input is decoded once. An invalid one is decoded again to collect all its problems, after it is reduced to
 * what is reported. `at` is the path of the input below the slot.
 */
export const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  others: "refused" | "ignored" = "refused"
): Decoder<S["Type"]> => {
  const read = Schema.decodeUnknownResult(schema as never as Schema.Codec<S["Type"]>)
  const isOpen = others === "ignored"
  const hasExcess = isOpen ? null : excessCheck(schema)
  const bounds = inputBounds(schema)
  return (input, slot, at = []) => {
    if (!bounds.hasLongList(input)) {
      const decoded = read(input)
      if (Result.isSuccess(decoded) && (hasExcess === null || !hasExcess(input))) return Result.succeed(decoded.success)
    }
    const { long, value } = bounds.trim(input, MAX_DETAILS)
    const all = read(value, { errors: "all", onExcessProperty: isOpen ? "ignore" : "error", reportInput: true })
    if (long.length === 0 && Result.isSuccess(all)) return Result.succeed(all.success)
    const base = [slot, ...at]
    return Result.fail([
      ...long.map(tooLong(base)),
      ...(Result.isFailure(all) ? detailsOf(all.failure.issue, base).filter(isBeside(long, base.length)) : [])
    ])
  }
}

const tooLong =
  (base: ReadonlyArray<string>) =>
  ({ detail, input, path }: LongList): DetailItem =>
    detailItem([...base, ...path], detail.type, detail.msg, input, detail.ctx)

/** Drops the problems of the empty list that replaces a list that is too long. */
const isBeside =
  (long: ReadonlyArray<LongList>, skipped: number) =>
  ({ loc }: DetailItem): boolean =>
    !long.some(({ path }) => path.every((part, index) => loc[skipped + index] === part))

/** The problem of a missing body. */
export const missingBody: ReadonlyArray<DetailItem> = [detailItem(["body"], "missing", "Field required")]
