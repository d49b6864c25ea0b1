/** Inclusion proofs out of the stored tree, in at most two round trips to the store at any length of the chain. */
import { detailItem, InvalidInput, type ProofOut, RecordNotFound } from "@flyball/contract"
import { type Crypto, inclusionProof, type NodeCoord, type NodeReader, rootAt, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { checkpointOf, latestCheckpoint } from "./checkpoints.ts"
import type { StoredTree } from "./tree.ts"

/** Makes proofs; see `ChainApi.proof`. */
export type Prover = (
  seq: number,
  treeSize?: number
) => Effect.Effect<ProofOut, RecordNotFound | InvalidInput | ReadFault>

/**
 * The prover of this store. Independent reads start together, so that a store can answer them in one batch, and one
 * that caches its head and last checkpoint is read once.
 */
export const prover = (storage: StorageApi, crypto: Crypto, tree: StoredTree): Prover =>
  Effect.fnUntraced(function* (seq, treeSize) {
    const [head, latest] = yield* Effect.all([storage.head, latestCheckpoint(storage)], { concurrency: "unbounded" })
    if (head === null) return yield* new StorageCorrupt({ reason: "the chain was opened and is empty now" })
    const size = head.seq + 1
    if (!(seq >= 0 && seq < size)) return yield* new RecordNotFound({ seq })
    const chosen = treeSize ?? (latest !== null && latest.size > seq ? latest.size : size)
    if (chosen <= seq || chosen > size) {
      return yield* new InvalidInput({
        detail: [
          detailItem(["query", "tree_size"], "value_error", `Expected a tree size from ${seq + 1} to ${size}`, chosen)
        ]
      })
    }
    const nodes = tree.with((read) => {
      const together = gathering(read)
      // The root is read, not folded from the record: a record whose stored hash is wrong must not get a root of its
      // own.
      return Promise.all([inclusionProof(crypto, seq, chosen, together), rootAt(crypto, chosen, together)])
    })
    const [record, [path, root], checkpoint] = yield* Effect.all(
      [storage.record(seq), nodes, latest?.size === chosen ? Effect.succeed(latest) : checkpointOf(storage, chosen)],
      { concurrency: "unbounded" }
    )
    if (record === null) return yield* new RecordNotFound({ seq })
    return {
      seq,
      record_hash: digest(record.hash),
      tree_size: chosen,
      root_hash: digest(root),
      proof: path.map(digest),
      checkpoint: checkpoint?.note ?? null
    }
  })

/** Joins the reads of one turn into one, each node once: a proof and its root share most of their nodes. */
const gathering = (read: NodeReader): NodeReader => {
  const wanted = new Map<string, NodeCoord>()
  let reading: Promise<ReadonlyMap<string, Uint8Array>> | null = null
  const readAll = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
    await Promise.resolve()
    reading = null
    const all = [...wanted]
    wanted.clear()
    const hashes = await read(all.map(([, coord]) => coord))
    return new Map(all.map(([key], index) => [key, hashes[index]!]))
  }
  return async (coords) => {
    for (const coord of coords) wanted.set(keyOf(coord), coord)
    const found = await (reading ??= readAll())
    return coords.map((coord) => found.get(keyOf(coord))!)
  }
}

const keyOf = ({ index, level }: NodeCoord): string => `${level}/${index}`

const digest = (hash: Uint8Array): string => `sha256:${toHex(hash)}`
