/** Checks stored tree hashes against recomputed leaves: what proofs are made of must be true, not only consistent. */
import type { Crypto } from "@flyball/evidence"
import { concatBytes, equalBytes, TILE_WIDTH, tileRoot, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import type { StorageApi } from "../../storage/port.ts"
import type { ChainFinding } from "./findings.ts"

interface Level {
  /** Index of the first hash in `hashes`. */
  from: number
  hashes: Array<Uint8Array>
  /** How many of `hashes`, from the front, were compared with the store. */
  compared: number
}

/**
 * Collects recomputed leaf hashes; {@link check} compares what has been added since with the store, at every tile level
 * that is complete.
 */
export class TileCheck {
  readonly #storage: StorageApi
  readonly #crypto: Crypto
  readonly #levels: Array<Level>

  constructor(storage: StorageApi, crypto: Crypto, from: number) {
    this.#storage = storage
    this.#crypto = crypto
    this.#levels = [{ from, hashes: [], compared: 0 }]
  }

  /** Adds the recomputed hash of the next leaf. */
  add(leaf: Uint8Array): void {
    this.#levels[0]!.hashes.push(leaf)
  }

  /** Compares what was added, then forgets all but the open tiles. */
  get check() {
    return Effect.gen({ self: this }, function* () {
      const findings: Array<ChainFinding> = []
      for (let level = 0; level < this.#levels.length; level++) {
        findings.push(...(yield* this.#compare(level)))
        this.#close(level)
      }
      return findings
    })
  }

  #compare(level: number) {
    const { compared, from, hashes } = this.#levels[level]!
    const fresh = hashes.slice(compared)
    this.#levels[level]!.compared = hashes.length
    if (fresh.length === 0) return Effect.succeed([])
    return Effect.map(this.#storage.hashes(level, from + compared, fresh.length), (stored) =>
      fresh.flatMap((hash, index): ReadonlyArray<ChainFinding> => {
        const found = stored.subarray(index * 32, index * 32 + 32)
        if (equalBytes(found, hash)) return []
        const at = from + compared + index
        const seq = at * TILE_WIDTH ** level
        return [
          {
            code: "E_TILE",
            seq,
            expected: `hash ${at} of tile level ${level}: ${toHex(hash)}`,
            found: found.length === 32 ? toHex(found) : "nothing"
          }
        ]
      })
    )
  }

  /**
   * Folds every complete tile into a hash of the level above. A tile that began before the stretch cannot be
   * recomputed, and is dropped.
   */
  #close(level: number): void {
    const current = this.#levels[level]!
    while (true) {
      const missing = TILE_WIDTH - (current.from % TILE_WIDTH)
      if (current.hashes.length < missing) return
      const tile = current.hashes.splice(0, missing)
      const index = Math.floor(current.from / TILE_WIDTH)
      current.from += missing
      current.compared -= missing
      const above = this.#levels[level + 1]
      const whole = missing === TILE_WIDTH
      const roots = whole ? [tileRoot(this.#crypto, concatBytes(...tile))] : []
      if (above === undefined) this.#levels.push({ from: whole ? index : index + 1, hashes: roots, compared: 0 })
      else above.hashes.push(...roots)
    }
  }
}
