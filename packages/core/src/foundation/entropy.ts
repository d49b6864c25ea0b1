/** Where randomness comes from. Spec: style section 4, "ids and randomness from services". */
import { Context } from "effect"

/** A source of random bytes. */
export interface EntropySource {
  /** `n` fresh random bytes; never a buffer that is used again. */
  readonly bytes: (n: number) => Uint8Array
}

/** 64 KiB, the most that `getRandomValues` gives in one call; a call costs about as much as 60 salts. */
const poolBytes = 65_536

/**
 * Draws from the platform's cryptographic generator through a pool.
 *
 * What leaves the pool is copied and wiped there: a salt that is erased later must not survive in memory of ours.
 */
export const pooledEntropy = (): EntropySource => {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  return {
    bytes: (n) => {
      const out = new Uint8Array(n)
      for (let filled = 0; filled < n;) {
        if (used === poolBytes) {
          globalThis.crypto.getRandomValues(pool)
          used = 0
        }
        const take = Math.min(n - filled, poolBytes - used)
        out.set(pool.subarray(used, used + take), filled)
        pool.fill(0, used, used + take)
        used += take
        filled += take
      }
      return out
    }
  }
}

/** Random bytes of the process. Tests replace it with a seeded source. */
export const Entropy: Context.Reference<EntropySource> = Context.Reference("flyball/core/Entropy", {
  defaultValue: pooledEntropy
})
