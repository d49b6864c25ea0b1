/** A small seeded generator of random numbers (mulberry32), the same on every machine. */

/** Numbers from 0 up to, not including, 1. */
export type Random = () => number

/** The generator of this seed. */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole number from 0 up to, not including, `below`. */
export const below = (random: Random, limit: number): number => Math.floor(random() * limit)

/** A size out of quantiles that stand at equal distances, straight between them. */
export const sizeOf = (random: Random, quantiles: ReadonlyArray<number>): number => {
  if (quantiles.length === 0) return 0
  const at = random() * (quantiles.length - 1)
  const index = Math.floor(at)
  const low = quantiles[index]!
  return Math.round(low + (quantiles[Math.min(index + 1, quantiles.length - 1)]! - low) * (at - index))
}

/** The index of one of these weights, as often as it weighs. */
export const weighted = (random: Random, weights: ReadonlyArray<number>): number => {
  let left = 0
  for (const weight of weights) left += weight
  left *= random()
  for (let index = 0; index < weights.length - 1; index++) {
    left -= weights[index]!
    if (left < 0) return index
  }
  return weights.length - 1
}
