/** The stored nodes of the Merkle tree: tiles of 256 hashes, written as they fill. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { tileRoot } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node/crypto"
import { StoreDamaged } from "./sqlite-fault.ts"

/** Hashes in a tile: 8 levels of the tree. */
const width = 256
const hashBytes = 32

/** Appends record hashes; one instance per writer, inside its transactions. */
export class Tiles {
  readonly #open = new Uint8Array(width * hashBytes)
  readonly #select: StatementSync
  readonly #insert: StatementSync
  readonly #append: StatementSync
  readonly #recent: StatementSync

  constructor(db: DatabaseSync) {
    this.#select = db.prepare("SELECT hashes FROM tile WHERE level = ? AND idx = ?")
    this.#insert = db.prepare("INSERT INTO tile (level, idx, hashes) VALUES (?, ?, ?)")
    this.#append = db.prepare("UPDATE tile SET hashes = CAST(hashes || ? AS BLOB) WHERE level = ? AND idx = ?")
    this.#recent = db.prepare("SELECT seq, hash FROM record WHERE seq >= ? ORDER BY seq")
  }

  /** Fills the open tile from the last rows, at most 255 of them. */
  load(size: number): void {
    const from = size - (size % width)
    let seq = from
    for (const row of this.#recent.all(from)) {
      if (row["seq"] !== seq) throw new StoreDamaged(`record ${seq} is missing`)
      this.#open.set(row["hash"] as Uint8Array, (seq - from) * hashBytes)
      seq++
    }
    if (seq !== size) throw new StoreDamaged(`expected ${size} records, saw ${seq}`)
  }

  /** Takes the hash of record `seq`, the next one. */
  append(seq: number, hash: Uint8Array): void {
    this.#open.set(hash, (seq % width) * hashBytes)
    if (seq % width !== width - 1) return
    const index = Math.floor(seq / width)
    this.#insert.run(0, index, this.#open)
    this.#grow(1, index, tileRoot(nodeCrypto, this.#open))
  }

  /** Adds node `index` of a tile level; a tile that is full by that adds its own root one level up. */
  #grow(level: number, index: number, hash: Uint8Array): void {
    const tile = Math.floor(index / width)
    if (index % width === 0) {
      this.#insert.run(level, tile, hash)
      return
    }
    if (this.#append.run(hash, level, tile).changes !== 1)
      throw new StoreDamaged(`tile ${tile} of level ${level} is missing`)
    if (index % width !== width - 1) return
    const hashes = this.#select.get(level, tile)?.["hashes"] as Uint8Array
    if (hashes.length !== width * hashBytes)
      throw new StoreDamaged(`tile ${tile} of level ${level} has ${hashes.length} bytes`)
    this.#grow(level + 1, tile, tileRoot(nodeCrypto, hashes))
  }
}
