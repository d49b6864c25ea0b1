/** The Merkle tree over stored hashes: roots and proofs in O(log n) reads at any length of the chain. */
import type { Crypto, NodeReader } from "@flyball/evidence"
import { MissingNodes, rootAt, tileReader } from "@flyball/evidence"
import { Effect, Exit } from "effect"
import { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Runs evidence's tree functions, which are promises, over a store, which is effects. */
export interface StoredTree {
  /** Calls `use` with a reader of nodes; what the reader fails with, this fails with. */
  readonly with: <A>(use: (read: NodeReader) => Promise<A>) => Effect.Effect<A, ReadFault>
  readonly rootAt: (size: number) => Effect.Effect<Uint8Array, ReadFault>
}

/** The tree of this store. */
export const storedTree = (storage: StorageApi, crypto: Crypto): StoredTree => {
  const withReader: StoredTree["with"] = (use) =>
    Effect.flatMap(Effect.context<never>(), (context) =>
      Effect.tryPromise({
        try: () =>
          use(
            tileReader(crypto, (tileLevel, from, count) =>
              Effect.runPromiseExitWith(context)(storage.hashes(tileLevel, from, count)).then(valueOrThrow)
            )
          ),
        catch: (error) => error
      })
    ).pipe(
      Effect.catch((error) => {
        if (isFault(error)) return Effect.fail(error)
        return error instanceof MissingNodes
          ? Effect.fail(new StorageCorrupt({ reason: `tree hashes are missing (${error.message})`, cause: error }))
          : Effect.die(error)
      })
    )
  return { with: withReader, rootAt: (size) => withReader((read) => rootAt(crypto, size, read)) }
}

const valueOrThrow = <A, E>(exit: Exit.Exit<A, E>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")
  throw failure === undefined
    ? new Error("A read of tree hashes was interrupted or died.", { cause: exit.cause })
    : failure.error
}

const isFault = (error: unknown): error is ReadFault =>
  error instanceof StorageUnavailable || error instanceof StorageCorrupt
