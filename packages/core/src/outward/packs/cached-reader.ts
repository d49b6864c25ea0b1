/** Reads tree nodes once for many proofs: neighbours' proofs share most of their nodes. */
import type { NodeCoord, NodeReader } from "@flyball/evidence"

/** Nodes kept: about 1 MiB. */
const KEPT_NODES = 8_192

/** A reader that remembers what it read. Only for a tree of fixed size, whose nodes do not change. */
export const cachedReader = (read: NodeReader): NodeReader => {
  const known = new Map<string, Uint8Array>()
  return async (coords) => {
    if (known.size > KEPT_NODES) known.clear()
    const missing = coords.filter((coord) => !known.has(keyOf(coord)))
    if (missing.length > 0) {
      const hashes = await read(missing)
      missing.forEach((coord, index) => known.set(keyOf(coord), hashes[index]!))
    }
    return coords.map((coord) => known.get(keyOf(coord))!)
  }
}

const keyOf = ({ index, level }: NodeCoord): string => `${level}/${index}`
