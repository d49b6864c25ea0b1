/** Numbers from a seed: the same on every machine and in every run. */

/** A source of numbers. */
export interface Random {
  /** An integer from 0 to `below` - 1. */
  readonly below: (below: number) => number
  readonly bytes: (length: number) => Uint8Array
}

/** The source for a seed (mulberry32). */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (limit: number): number => next() % limit
  return { below, bytes: (length) => Uint8Array.from({ length }, () => below(256)) }
}
