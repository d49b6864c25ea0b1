/** Shapley values: what each player adds to the worth of all, averaged over the orders in which they come. */
import type { Generator32 } from "./generator.ts"
import { Z95 } from "./intervals.ts"

/** Players up to which every order counts: 256 coalitions. */
export const MAX_EXACT_PLAYERS = 8

/** The value of a player. `error`: half of its interval of 95 %; 0 where every order counted. */
export interface ShapleyValue {
  readonly value: number
  readonly error: number
}

/**
 * Divides a worth among players. `worth` of a coalition, whose members are the set bits; it is called once for each.
 *
 * - Formula: the mean, over all orders, of what a player adds to those before it; above {@link MAX_EXACT_PLAYERS}
 *   players over `orders` random ones, each with its reverse. The sum is the worth of all, less that of none.
 * - Source: Shapley, 1953; Castro, Gómez and Tejada, 2009, for samples; Mitchell et al., 2022, for reversed orders.
 * - Shape: 1 to 30 players.
 */
export function* shapley(
  players: number,
  worth: (coalition: number) => number,
  orders: number,
  random: () => Generator32
): Generator<void, ReadonlyArray<ShapleyValue>, void> {
  const known = new Map<number, number>()
  const worthOf = (coalition: number): number => {
    const before = known.get(coalition)
    if (before !== undefined) return before
    const value = worth(coalition)
    known.set(coalition, value)
    return value
  }
  if (players <= MAX_EXACT_PLAYERS) {
    const values = new Float64Array(players)
    for (let coalition = 0; coalition < 1 << players; coalition++) {
      const size = sizeOf(coalition)
      for (let one = 0; one < players; one++) {
        if ((coalition & (1 << one)) !== 0) continue
        const weight = (factorial(size) * factorial(players - size - 1)) / factorial(players)
        values[one]! += weight * (worthOf(coalition | (1 << one)) - worthOf(coalition))
      }
      yield
    }
    return [...values].map((value) => ({ value, error: 0 }))
  }
  const generator = random()
  const order = Uint32Array.from({ length: players }, (_, one) => one)
  const [sums, squares] = [new Float64Array(players), new Float64Array(players)]
  for (let pair = 0; pair < orders; pair++) {
    generator.shuffle(order)
    const added = new Float64Array(players)
    for (const sequence of [order, order.toReversed()]) {
      let coalition = 0
      for (const one of sequence) {
        added[one]! += (worthOf(coalition | (1 << one)) - worthOf(coalition)) / 2
        coalition |= 1 << one
        yield
      }
    }
    for (let one = 0; one < players; one++) {
      sums[one]! += added[one]!
      squares[one]! += added[one]! ** 2
    }
  }
  return [...sums].map((sum, one) => {
    const value = sum / orders
    const variance = Math.max(0, squares[one]! / orders - value * value) / (orders - 1)
    return { value, error: Z95 * Math.sqrt(variance) }
  })
}

const sizeOf = (coalition: number): number => {
  let size = 0
  for (let rest = coalition; rest > 0; rest &= rest - 1) size++
  return size
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))
