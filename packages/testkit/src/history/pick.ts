/** Where a random history gets its choices. */
import type { EntropySource } from "@flyball/core/storage"

/** A whole number from 0 to `bound - 1`. fast-check, a seeded generator or a recorded list can stand behind it. */
export type Pick = (bound: number) => number

/**
 * Takes choices from a list, then always the first. A shorter list with smaller numbers is a simpler history, so
 * shrinking works.
 */
export const pickFrom = (numbers: ReadonlyArray<number>): Pick => {
  let used = 0
  return (bound) => (numbers[used++] ?? 0) % bound
}

/** Takes choices from a stream of bytes, such as `seededSource(seed)`. */
export const pickOf =
  (source: EntropySource): Pick =>
  (bound) =>
    new DataView(source.bytes(4).buffer).getUint32(0) % bound

/** One of a list that is not empty. */
export const oneOf = <A>(pick: Pick, values: readonly [A, ...ReadonlyArray<A>]): A => values[pick(values.length)]!

/** True once in `times`; never when choices have run out. */
export const onceIn = (pick: Pick, times: number): boolean => pick(times) === times - 1

/** `count` things, each made with its own choices. */
export const several = <A>(pick: Pick, most: number, make: () => A): ReadonlyArray<A> =>
  Array.from({ length: pick(most + 1) }, make)
