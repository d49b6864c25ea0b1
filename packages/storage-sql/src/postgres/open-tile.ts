/**
 * The nodes of the tree that a group completes. The group that fills a tile of 256 writes its root, in the same
 * transaction.
 *
 * The hashes of the open tile are remembered between groups; where another process has moved the head meanwhile, they
 * are read again.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { Head } from "@flyball/core/storage"
import { StorageCorrupt } from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { concatBytes, equalBytes, TILE_WIDTH, tileRoot } from "@flyball/evidence"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inSchema } from "./migrations.ts"

/** A node to be stored: the root of tile `index` of the level below. */
export interface TreeNode {
  readonly level: number
  readonly index: number
  readonly hash: Uint8Array
}

/** Record hashes of the open tile, as they were after the record with hash `last`. */
export interface OpenTile {
  readonly size: number
  readonly last: Uint8Array
  readonly hashes: ReadonlyArray<Uint8Array>
}

/**
 * Tree nodes that a group adds, and the open tile to remember once the group is durable (null: read it when it is
 * needed).
 */
export interface Growth {
  readonly nodes: ReadonlyArray<TreeNode>
  readonly open: OpenTile | null
}

/** Makes the function that grows the tree by a group's records, inside its transaction. */
export const treeIn = (crypto: Crypto, schema: string) => {
  const leaves = inSchema(
    "SELECT hash FROM flyball.records WHERE seq >= $1::int8 AND seq < $2::int8 ORDER BY seq",
    schema
  )
  const nodes = inSchema(
    "SELECT hash FROM flyball.nodes WHERE level = $3::int2 AND index >= $1::int8 AND index < $2::int8 ORDER BY index",
    schema
  )

  /** Hashes of one level from the database; all of them must be there. */
  const read = Effect.fnUntraced(function* (
    connection: PgConnection,
    level: number,
    from: number,
    to: number
  ): Effect.fn.Return<Array<Uint8Array>, SqlError | StorageCorrupt> {
    if (from === to) return []
    const params = level === 0 ? [String(from), String(to)] : [String(from), String(to), String(level)]
    const { rows } = yield* connection.query(level === 0 ? leaves : nodes, params)
    if (rows.length !== to - from) {
      return yield* new StorageCorrupt({
        reason: `expected ${to - from} hashes from index ${from} of tile level ${level}, saw ${rows.length}`
      })
    }
    return rows.map((row) => row["hash"] as Uint8Array)
  })

  return Effect.fnUntraced(function* (
    connection: PgConnection,
    before: Head | null,
    known: OpenTile | null,
    sealed: ReadonlyArray<Head>
  ): Effect.fn.Return<Growth, SqlError | StorageCorrupt> {
    const size = before === null ? 0 : before.seq + 1
    const last = sealed.at(-1)
    if (last === undefined) return { nodes: [], open: known }
    const fits = size === 0 || (known !== null && known.size === size && equalBytes(known.last, before!.hash))
    const start = size - (size % TILE_WIDTH)
    if (!fits && last.seq + 1 < start + TILE_WIDTH) return { nodes: [], open: null }

    const made: Array<TreeNode> = []
    let from = start
    let hashes = size === 0 ? [] : fits ? [...known!.hashes] : yield* read(connection, 0, start, size)
    for (const { hash } of sealed) hashes.push(hash)
    const open = {
      size: last.seq + 1,
      last: last.hash,
      hashes: hashes.slice(hashes.length - (hashes.length % TILE_WIDTH))
    }
    for (let level = 1; hashes.length >= TILE_WIDTH; level++) {
      const roots: Array<Uint8Array> = []
      for (let at = 0; at + TILE_WIDTH <= hashes.length; at += TILE_WIDTH)
        roots.push(tileRoot(crypto, concatBytes(...hashes.slice(at, at + TILE_WIDTH))))
      const first = from / TILE_WIDTH
      roots.forEach((hash, index) => made.push({ level, index: first + index, hash }))
      from = first - (first % TILE_WIDTH)
      if ((first % TILE_WIDTH) + roots.length < TILE_WIDTH) break
      hashes = [...(yield* read(connection, level, from, first)), ...roots]
    }
    return { nodes: made, open }
  })
}
