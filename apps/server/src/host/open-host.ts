/** The governor of this process: store, keys and services, as the settings say. */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { ephemeralKeys, governorLayer, type GovernorServices, type KeysChoice, keysLayerOf, layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { Layer, ManagedRuntime } from "effect"
import type { Settings } from "../settings/read.ts"

/** What runs Effects of the governor. Dispose of it to sign a last checkpoint and let go of the store. */
export type HostRuntime = ManagedRuntime.ManagedRuntime<GovernorServices | Storage, unknown>

const originOption = (settings: Settings) => settings.origin === null ? {} : { origin: settings.origin }

const storageOf = ({ database }: Settings, readOnly: boolean): StorageChoice => {
  switch (database.kind) {
    case "memory":
      return memoryStorage()
    case "sqlite":
      if (!readOnly) mkdirSync(dirname(database.file), { recursive: true, mode: 0o700 })
      return sqliteStorage({ file: database.file, readOnly })
    case "postgres":
      return postgresStorage({ url: database.url, applicationName: "flyball" })
  }
}

/** Keys in the data folder; with a store in memory they live in memory too, so that each start is a new origin. */
const keysOf = (settings: Settings): KeysChoice =>
  settings.database.kind === "memory" ? ephemeralKeys() : dataFolder({ dir: settings.dataDir, ...originOption(settings) })

/**
 * Opens the governor and waits until it is ready.
 *
 * - Fails: rejects with the start refusal or storage fault, whose message is a sentence for the operator.
 */
export const openHost = async (settings: Settings, options: { readonly readOnly?: boolean } = {}): Promise<HostRuntime> => {
  const readOnly = options.readOnly ?? false
  if (readOnly && settings.database.kind === "memory") throw new Error("sqlite::memory: lives inside the server's process, so there is nothing to read from here. Ask the server over HTTP")
  const layer = governorLayer({ ...originOption(settings), tenantId: settings.tenantId, readOnly }).pipe(
    Layer.provideMerge(layerOf(storageOf(settings, readOnly))),
    Layer.provide(keysLayerOf(keysOf(settings)))
  )
  const runtime: HostRuntime = ManagedRuntime.make(layer)
  await runtime.context()
  return runtime
}
