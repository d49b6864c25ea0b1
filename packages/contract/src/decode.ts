/** Decodes an input against a shape; what is wrong comes back as pydantic's list. */
import { Result, Schema } from "effect"
import { type DetailItem, detailItem, type Slot } from "./detail.ts"
import { detailsOf, MAX_DETAILS } from "./details.ts"
import { excessCheck } from "./excess.ts"
import { type LongList, sizesOf } from "./sizes.ts"

/** A decoded input, or every problem it has. */
export type Decoded<A> = Result.Result<A, ReadonlyArray<DetailItem>>

/** Decodes inputs of one shape. */
export type Decoder<A> = (input: unknown, slot: Slot, at?: ReadonlyArray<string>) => Decoded<A>

/**
 * A decoder for a shape. Members that the shape does not have are refused.
 *
 * A good input is decoded once, stopping nowhere; only a bad one is read again for all that is wrong with it, cut down
 * first to what is worth telling of.
 * `at` is where the input stands below the slot.
 */
export const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S): Decoder<S["Type"]> => {
  const read = Schema.decodeUnknownResult(schema as never as Schema.Codec<S["Type"]>)
  const hasExcess = excessCheck(schema)
  const sizes = sizesOf(schema)
  return (input, slot, at = []) => {
    if (!sizes.hasLongList(input)) {
      const decoded = read(input)
      if (Result.isSuccess(decoded) && (hasExcess === null || !hasExcess(input))) return Result.succeed(decoded.success)
    }
    const { long, value } = sizes.trim(input, MAX_DETAILS)
    const all = read(value, { errors: "all", onExcessProperty: "error", reportInput: true })
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

/** What stands for a list that was too long is empty: what is said of it is not so. */
const isBeside =
  (long: ReadonlyArray<LongList>, skipped: number) =>
  ({ loc }: DetailItem): boolean =>
    !long.some(({ path }) => path.every((part, index) => loc[skipped + index] === part))

/** The problem of a body that is needed and not there. */
export const missingBody: ReadonlyArray<DetailItem> = [detailItem(["body"], "missing", "Field required")]
