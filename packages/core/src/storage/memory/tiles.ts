/** Merkle node hashes in memory: the leaves, and the root of every complete tile of 256, of 65,536, and so on. */
import type { Crypto } from "@flyball/evidence"
import { concatBytes, TILE_WIDTH, tileRoot } from "@flyball/evidence"

/** Hashes of tree levels 0, 8, 16 … as far as they are complete. */
export class TileHashes {
  readonly #crypto: Crypto
  readonly #levels: Array<Array<Uint8Array>> = [[]]

  constructor(crypto: Crypto) {
    this.#crypto = crypto
  }

  /** Adds the next leaf hash, and the node above every tile that it completes. */
  add(leaf: Uint8Array): void {
    let hash = leaf
    for (let level = 0; ; level++) {
      const hashes = (this.#levels[level] ??= [])
      hashes.push(hash)
      if (hashes.length % TILE_WIDTH !== 0) return
      hash = tileRoot(this.#crypto, concatBytes(...hashes.slice(-TILE_WIDTH)))
    }
  }

  /** `count` hashes of a tile level from index `from`, joined; fewer past the end. */
  read(tileLevel: number, from: number, count: number): Uint8Array {
    return concatBytes(...(this.#levels[tileLevel] ?? []).slice(from, from + count))
  }
}
