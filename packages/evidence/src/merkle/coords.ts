/** Names of the nodes of a Merkle tree, and which of them make up a range. */

/** The perfect subtree over the leaves [index × 2^level, (index + 1) × 2^level). */
export interface NodeCoord {
  readonly level: number
  readonly index: number
}

/** Reads the hashes of nodes, in the requested order. Only complete nodes are ever requested. */
export type NodeReader = (coords: ReadonlyArray<NodeCoord>) => Promise<ReadonlyArray<Uint8Array>>

/**
 * The fewest perfect subtrees that cover the leaves [from, to), in ascending order.
 *
 * - Unit: leaves; both are integers, 0 <= from <= to <= 2^53 - 1.
 * - Spec: format 1 section 5, "Range hashes".
 */
export const split = (from: number, to: number): ReadonlyArray<NodeCoord> => {
  const coords: Array<NodeCoord> = []
  let begin = from
  while (begin < to) {
    let level = 0
    let width = 1
    // Not with shifts: leaf numbers pass 2^31.
    while (begin % (width * 2) === 0 && begin + width * 2 <= to) {
      level++
      width *= 2
    }
    coords.push({ level, index: begin / width })
    begin += width
  }
  return coords
}

/** The largest power of two smaller than `size`, which is at least 2: where RFC 6962 splits a tree. */
export const splitPoint = (size: number): number => {
  let k = 1
  while (k * 2 < size) k *= 2
  return k
}
