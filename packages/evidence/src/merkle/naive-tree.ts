/** The tree as RFC 6962 section 2.1 writes it down: slow, and plainly right. For tests only. */
import type { Crypto } from "../crypto.ts"
import type { NodeReader } from "./coords.ts"
import { splitPoint } from "./coords.ts"

/** MTH(D[n]). */
export const naiveRoot = (crypto: Crypto, leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (leaves.length === 0) return crypto.sha256(new Uint8Array(0))
  if (leaves.length === 1) return leaves[0]!
  const k = splitPoint(leaves.length)
  return crypto.nodeHash(naiveRoot(crypto, leaves.slice(0, k)), naiveRoot(crypto, leaves.slice(k)))
}

/** PATH(m, D[n]). */
export const naivePath = (crypto: Crypto, m: number, leaves: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  if (leaves.length <= 1) return []
  const k = splitPoint(leaves.length)
  return m < k
    ? [...naivePath(crypto, m, leaves.slice(0, k)), naiveRoot(crypto, leaves.slice(k))]
    : [...naivePath(crypto, m - k, leaves.slice(k)), naiveRoot(crypto, leaves.slice(0, k))]
}

/** SUBPROOF(m, D[n], b). */
export const naiveConsistency = (
  crypto: Crypto,
  m: number,
  leaves: ReadonlyArray<Uint8Array>,
  whole = true
): ReadonlyArray<Uint8Array> => {
  if (m === leaves.length) return whole ? [] : [naiveRoot(crypto, leaves)]
  const k = splitPoint(leaves.length)
  return m <= k
    ? [...naiveConsistency(crypto, m, leaves.slice(0, k), whole), naiveRoot(crypto, leaves.slice(k))]
    : [...naiveConsistency(crypto, m - k, leaves.slice(k), false), naiveRoot(crypto, leaves.slice(0, k))]
}

/** Leaf hashes to build trees of. */
export const testLeaves = (crypto: Crypto, count: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: count }, (_, i) => crypto.leafHash(Uint8Array.of(i >> 8, i & 255)))

/** Reads nodes by computing them; refuses any that is not complete. */
export const naiveReader =
  (crypto: Crypto, leaves: ReadonlyArray<Uint8Array>): NodeReader =>
  (coords) =>
    Promise.resolve(
      coords.map(({ level, index }) => {
        const to = (index + 1) * 2 ** level
        if (to > leaves.length)
          throw new Error(`Node ${index} of level ${level} is not complete in a tree of ${leaves.length}.`)
        return naiveRoot(crypto, leaves.slice(index * 2 ** level, to))
      })
    )
