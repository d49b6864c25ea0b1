/** Random tables with fixed margins: how many of the marked items fall to each group when all are dealt anew. */
import type { Generator32 } from "./generator.ts"

/** Logarithms of factorials, made once for a largest number. */
export interface LogFactorials {
  /** `ln n!`, for whole `n` from 0 to the largest. */
  readonly of: (n: number) => number
}

/** Makes the logarithms of 0! to `most`!. Sums and products alone, so that everybody gets the same digits. */
export function* logFactorials(most: number): Generator<void, LogFactorials, void> {
  const table = new Float64Array(most + 1)
  for (let n = 2; n <= most; n++) {
    table[n] = table[n - 1]! + ln(n)
    if (n % 20_000 === 0) yield
  }
  return { of: (n) => table[n]! }
}

/**
 * Draws how many of `marked` items are among `drawn` of `all`, by inversion from the most probable number on.
 *
 * - Shape: whole numbers, `0 <= marked, drawn <= all`, `all` within the table.
 * - Formula: `P(x) = C(marked, x) C(all - marked, drawn - x) / C(all, drawn)`; neighbours by their ratio.
 */
export const hypergeometric = (
  random: Generator32,
  { all, drawn, marked }: { readonly marked: number; readonly all: number; readonly drawn: number },
  { of }: LogFactorials
): number => {
  const [low, high] = [Math.max(0, drawn + marked - all), Math.min(drawn, marked)]
  if (low === high) return low
  const top = Math.floor(((drawn + 1) * (marked + 1)) / (all + 2))
  const others = all - marked
  const ways = (n: number, k: number): number => of(n) - of(k) - of(n - k)
  const most = exp(ways(marked, top) + ways(others, drawn - top) - ways(all, drawn))
  let left = (random.next() + 0.5) / 2 ** 32 - most
  let [below, above, x, y] = [most, most, top, top]
  while (left > 0 && (x > low || y < high)) {
    if (y < high) {
      above *= ((marked - y) * (drawn - y)) / ((y + 1) * (others - drawn + y + 1))
      y++
      left -= above
      if (left <= 0) return y
    }
    if (x > low) {
      below *= (x * (others - drawn + x)) / ((marked - x + 1) * (drawn - x + 1))
      x--
      left -= below
      if (left <= 0) return x
    }
  }
  return top
}

/** Natural logarithm of a number from 1 on: of its power of two, and a series for the rest. */
const ln = (value: number): number => {
  let [rest, twos] = [value, 0]
  for (; rest > Math.SQRT2; rest /= 2) twos++
  const step = (rest - 1) / (rest + 1)
  let sum = 0
  for (let power = 23; power >= 1; power -= 2) sum = sum * step * step + 1 / power
  return twos * Math.LN2 + 2 * step * sum
}

/** `e` to the power of a number that is not above 0. */
const exp = (power: number): number => {
  let [sum, term, halvings, rest] = [1, 1, 0, power]
  for (; rest < -0.5; rest /= 2) halvings++
  for (let n = 1; n <= 14; n++) sum += term *= rest / n
  for (; halvings > 0; halvings--) sum *= sum
  return sum
}
