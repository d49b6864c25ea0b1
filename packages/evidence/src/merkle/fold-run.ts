/** Many consecutive leaves at once: level after level, so that a whole level is hashed in one call. */
import type { Crypto } from "../crypto.ts"

/** The root of 2^level leaves. */
export interface SubtreeRoot {
  readonly level: number
  readonly hash: Uint8Array
}

/**
 * The roots of `split(from, from + count)`, ascending: what `RangeFolder.pushSubtree` takes one after another.
 *
 * `hashes` holds the leaves' hashes, 32 bytes each, and is overwritten. Spec: format 1 section 5, "Range hashes".
 */
export const foldRun = (
  crypto: Pick<Crypto, "nodeHashes">,
  from: number,
  hashes: Uint8Array,
  count: number
): ReadonlyArray<SubtreeRoot> => {
  const left: Array<SubtreeRoot> = []
  const right: Array<SubtreeRoot> = []
  let nodes = hashes
  let index = from
  for (let level = 0, width = count; width > 0; level++) {
    if (index % 2 === 1) {
      left.push({ level, hash: nodes.slice(0, 32) })
      nodes = nodes.subarray(32)
      index++
      width--
    }
    if (width % 2 === 1) right.push({ level, hash: nodes.slice(32 * width - 32, 32 * width) })
    width = (width - (width % 2)) / 2
    crypto.nodeHashes(nodes, width, nodes)
    index /= 2
  }
  return [...left, ...right.toReversed()]
}
