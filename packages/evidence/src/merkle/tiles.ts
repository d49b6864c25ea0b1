/** Stored tiles: every eighth level of the tree is kept, the levels between are computed on demand. */
import type { Crypto } from "../crypto.ts"
import type { NodeCoord, NodeReader } from "./coords.ts"

/** Hashes in a full tile, which is eight levels high. */
export const TILE_WIDTH = 256
const TILE_LEVELS = 8

/**
 * Reads `count` joined hashes of stored level 8 × tileLevel, from index `from`. Fewer come back when they are not
 * there.
 */
export type ReadHashes = (tileLevel: number, from: number, count: number) => Promise<Uint8Array>

/** A requested node is not stored: the store holds less than it claims. */
export class MissingNodes extends Error {
  override readonly name = "MissingNodes"
}

/**
 * Root of a full tile: `hashes` are its 256 hashes joined, 8,192 bytes. Throws for another length. Spec: format 1
 * section 2.
 */
export const tileRoot = (crypto: Crypto, hashes: Uint8Array): Uint8Array => {
  if (hashes.length !== TILE_WIDTH * 32)
    throw new RangeError(`A full tile has ${TILE_WIDTH * 32} bytes; this one has ${hashes.length}.`)
  return subtreeRoot(crypto, hashes)
}

/**
 * A node reader over stored tile hashes. One call reads each tile once, all tiles at the same time.
 *
 * - Fails: `MissingNodes` when the store has fewer hashes than a complete node needs.
 * - Spec: format 1 section 2.
 */
export const tileReader =
  (crypto: Crypto, readHashes: ReadHashes): NodeReader =>
  async (coords) => {
    const wanted = coords.map(storedSpan)
    const reads = new Map<string, { from: number; to: number; hashes: Uint8Array }>()
    for (const span of wanted) {
      const read = reads.get(span.tile)
      if (read === undefined) reads.set(span.tile, { from: span.from, to: span.to, hashes: new Uint8Array(0) })
      else {
        read.from = Math.min(read.from, span.from)
        read.to = Math.max(read.to, span.to)
      }
    }
    await Promise.all(
      [...reads].map(async ([tile, read]) => {
        const tileLevel = Number(tile.split("/")[0])
        read.hashes = await readHashes(tileLevel, read.from, read.to - read.from)
        if (read.hashes.length !== (read.to - read.from) * 32) {
          throw new MissingNodes(
            `Expected ${read.to - read.from} hashes from index ${read.from} of tile level ${tileLevel}, found ` +
              `${read.hashes.length / 32}.`
          )
        }
      })
    )
    return wanted.map((span) => {
      const read = reads.get(span.tile)!
      return subtreeRoot(crypto, read.hashes.subarray((span.from - read.from) * 32, (span.to - read.from) * 32))
    })
  }

/** Which stored hashes a node is made of, and the tile they lie in. */
const storedSpan = ({
  level,
  index
}: NodeCoord): { readonly tile: string; readonly from: number; readonly to: number } => {
  const tileLevel = Math.floor(level / TILE_LEVELS)
  const width = 2 ** (level % TILE_LEVELS)
  const from = index * width
  return { tile: `${tileLevel}/${Math.floor(from / TILE_WIDTH)}`, from, to: from + width }
}

/** Root over joined hashes whose number is a power of two. */
const subtreeRoot = (crypto: Crypto, joined: Uint8Array): Uint8Array => {
  if (joined.length === 32) return joined.slice()
  const hashes = new Uint8Array(joined.length / 2)
  crypto.nodeHashes(joined, joined.length / 64, hashes)
  for (let width = joined.length / 128; width >= 1; width /= 2) crypto.nodeHashes(hashes, width, hashes)
  return hashes.slice(0, 32)
}
