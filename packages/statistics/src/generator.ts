/** A seeded generator of random numbers: the same numbers for the same seed, everywhere. */

/** A generator. Each call moves it on. */
export interface Generator32 {
  /** A whole number from 0 to 2^32 - 1. */
  readonly next: () => number
  /** A whole number from 0 to `n` - 1, each as likely. `n` is 1 to 2^32. */
  readonly below: (n: number) => number
  /** Puts the items into a random order, in place: each order is as likely. */
  readonly shuffle: (items: Uint32Array) => void
}

/** Bytes of a seed that count. */
export const SEED_BYTES = 16

/**
 * The generator xoshiro128**, seeded by the first 16 bytes: four words, each with its least significant byte first.
 *
 * - Source: Blackman and Vigna, Scrambled Linear Pseudorandom Number Generators, ACM TOMS 47, 2021. `below` rejects
 *   what is left over; `shuffle` is that of Fisher and Yates, from the last item on.
 * - Fails: throws a `RangeError` for a seed of fewer bytes, and for one of zeros, from which every number is zero.
 */
export const generator = (seed: Uint8Array): Generator32 => {
  if (seed.length < SEED_BYTES) throw new RangeError(`Expected a seed of ${SEED_BYTES} bytes; got ${seed.length}.`)
  const view = new DataView(seed.buffer, seed.byteOffset, SEED_BYTES)
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number, number]
  if ((a | b | c | d) === 0) throw new RangeError("Expected a seed that is not only zeros.")
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotated(d, 11)
    return result
  }
  const below = (n: number): number => {
    for (;;) {
      const drawn = next()
      // What is left over is fewer than n: most draws need no division of large numbers.
      if (drawn < 2 ** 32 - n) return drawn % (n >>> 0)
      if (drawn < 2 ** 32 - (2 ** 32 % n)) return drawn % n
    }
  }
  return {
    next,
    below,
    shuffle: (items) => {
      // `below`, with the state in variables of this loop: large shuffles are most of the work of a test.
      let [w, x, y, z] = [a, b, c, d]
      for (let last = items.length - 1; last > 0; last--) {
        let other = 0
        for (;;) {
          const drawn = Math.imul(rotated(Math.imul(x, 5), 7), 9) >>> 0
          const shifted = x << 9
          y ^= w
          z ^= x
          x ^= y
          w ^= z
          y ^= shifted
          z = rotated(z, 11)
          other = drawn % ((last + 1) >>> 0)
          if (drawn - other <= 2 ** 32 - (last + 1)) break
        }
        const item = items[last]!
        items[last] = items[other]!
        items[other] = item
      }
      a = w
      b = x
      c = y
      d = z
    }
  }
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by))
