/**
 * Reads the chain of a store whose signing key is not in the data folder: for commands that only read, and for refusing
 * a start in the wrong folder.
 */
import { resolve } from "node:path"
import {
  Guard,
  type KeysChoice,
  keysChoice,
  layerOf,
  Signer,
  type StorageChoice,
  type StoredChain,
  storedChain,
  StorageUnavailable
} from "@flyball/core"
import { Context, Effect, Layer } from "effect"
import type { Settings } from "../settings/read.ts"
import { hasSigningKey, SIGNING_KEY } from "./data-folder.ts"
import { guardCopies } from "./guard.ts"
import { hasStoreFile } from "./store-file.ts"

/**
 * The chain in this store; null where there is none, or no store yet. Makes nothing. Fails where there is a store that
 * cannot be read.
 */
export const chainIn = async ({ database }: Settings, storage: StorageChoice): Promise<StoredChain | null> => {
  if (database.kind === "memory" || (database.kind === "sqlite" && !hasStoreFile(database.file))) return null
  return Effect.runPromise(
    storedChain.pipe(
      Effect.provide(layerOf(storage)),
      // A database whose schema was not made yet, or a file that a start stopped before.
      Effect.catchTag("StorageUnavailable", (fault) => (isNoStore(fault) ? Effect.succeed(null) : Effect.fail(fault)))
    )
  )
}

const isNoStore = ({ reason }: StorageUnavailable): boolean =>
  reason.includes("has no store in its schema") || reason.includes(", saw 0;")

/**
 * Refuses to begin anything in a folder without a key while the store holds a chain: a key that is made there fits
 * nothing, and is in the way of the right one.
 *
 * - Fails: with a sentence, before anything is written.
 */
export const requireKeyOf = async (settings: Settings, storage: StorageChoice): Promise<void> => {
  if (hasSigningKey(settings)) return
  const chain = await chainIn(settings, storage)
  // Another process that shares the folder may have begun the chain since that read.
  if (chain === null || hasSigningKey(settings)) return
  throw new Error(
    `the store holds the chain of ${chain.origin}, and there is no signing key in ${resolve(settings.dataDir)}. Set ` +
      `FLYBALL_DATA_DIR to this store's data folder, or restore ${SIGNING_KEY} into this one from your vault. ` +
      `Nothing was written`
  )
}

/**
 * Keys that sign nothing: the one that the records name last, and the guard, or in its place what
 * the store itself holds signed.
 */
export const keysOfRecords = async (
  settings: Settings,
  { origin, publicKey, signed }: StoredChain
): Promise<{ readonly keys: KeysChoice; readonly guarded: boolean }> => {
  const guard = await guardCopies(settings).read()
  const unsigned = new StorageUnavailable({
    reason: `there is no ${SIGNING_KEY} in ${resolve(settings.dataDir)}`,
    wrote: "no"
  })
  const keys = Context.make(Signer, { origin, publicKey, sign: () => Effect.fail(unsigned) }).pipe(
    Context.add(Guard, { read: Effect.succeed(guard ?? signed), advance: () => Effect.succeed(false) })
  )
  return { keys: keysChoice("records", Layer.succeedContext(keys)), guarded: guard !== null }
}
