/** Randomness that repeats. */
import { Entropy } from "@flyball/core/storage"
import type { EntropySource } from "@flyball/core/storage"
import { portableCrypto, utf8 } from "@flyball/evidence"
import { Layer } from "effect"

/**
 * One endless stream of bytes for each seed: SHA-256 of the seed and a counter. How it is cut makes no difference to
 * what comes.
 */
export const seededSource = (seed: number | string): EntropySource => {
  let counter = 0
  let block = new Uint8Array(0)
  return {
    bytes: (n) => {
      const out = new Uint8Array(n)
      for (let filled = 0; filled < n;) {
        if (block.length === 0) block = portableCrypto.sha256(utf8(`flyball seed ${seed} ${counter++}`)).slice()
        const take = block.subarray(0, n - filled)
        out.set(take, filled)
        filled += take.length
        block = block.subarray(take.length)
      }
      return out
    }
  }
}

/** Replaces the process's randomness. Each build of the layer starts the stream again. */
export const seededEntropy = (seed: number | string): Layer.Layer<never> =>
  Layer.sync(Entropy, () => seededSource(seed))
