/** The governor of this process: store, keys and services, as the settings say. */
import { resolve } from "node:path"
import { ephemeralKeys, governorLayer, type GovernorServices, type KeysChoice, keysLayerOf, layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { Layer, ManagedRuntime } from "effect"
import type { Settings } from "../settings/read.ts"
import { makeDataFolder, requireDataFolder, SIGNING_KEY, tellingOfNew } from "./data-folder.ts"
import { effectLog } from "./effect-log.ts"
import type { Log } from "./log.ts"
import { prepareStoreFile } from "./store-file.ts"

/** What runs Effects of the governor. Dispose of it to sign a last checkpoint and let go of the store. */
export type HostRuntime = ManagedRuntime.ManagedRuntime<GovernorServices | Storage, unknown>

/** How a command opens the governor. */
export interface OpenHostOptions {
  /** Writes nothing, and works beside a running server. */
  readonly readOnly: boolean
  readonly log: Log
}

/**
 * Opens the governor and waits until it is ready.
 *
 * - Fails: rejects with a sentence for the operator, which names no secret.
 */
export const openHost = async (settings: Settings, { log, readOnly }: OpenHostOptions): Promise<HostRuntime> => {
  const inMemory = settings.database.kind === "memory"
  if (!inMemory) (readOnly ? requireDataFolder : makeDataFolder)(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, readOnly)
  const layer = governorLayer({ ...originOption(settings), ...(settings.tenantId === null ? {} : { tenantId: settings.tenantId }), readOnly }).pipe(
    Layer.provideMerge(layerOf(storageOf(settings, readOnly))),
    Layer.provide(keysLayerOf(keysOf(settings))),
    Layer.provideMerge(effectLog(log))
  )
  const runtime: HostRuntime = ManagedRuntime.make(layer)
  const open = () => runtime.context().catch((cause: unknown) => Promise.reject(inOurWords(settings, cause)))
  await (inMemory ? open() : tellingOfNew(settings, SIGNING_KEY, open))
  return runtime
}

const originOption = (settings: Settings) => settings.origin === null ? {} : { origin: settings.origin }

const storageOf = ({ database }: Settings, readOnly: boolean): StorageChoice => {
  switch (database.kind) {
    case "memory":
      return memoryStorage()
    case "sqlite":
      return sqliteStorage({ file: database.file, readOnly })
    case "postgres":
      return postgresStorage({ url: database.url, applicationName: "flyball" })
  }
}

/** Keys in the data folder; with a store in memory they live in memory too, so that each start is a new origin. */
const keysOf = (settings: Settings): KeysChoice =>
  settings.database.kind === "memory" ? ephemeralKeys() : dataFolder({ dir: settings.dataDir, ...originOption(settings) })

/** The storage speaks to whoever embeds it; an operator has a server to stop. */
const inOurWords = (settings: Settings, cause: unknown): unknown =>
  settings.database.kind === "sqlite" && cause instanceof Error && cause.message.includes("another process has the database open for writing")
    ? new Error(`another process writes ${resolve(settings.database.file)}, probably a running flyball serve. Stop it first: one process at a time writes a SQLite file (several can share a Postgres database)`, { cause })
    : cause
