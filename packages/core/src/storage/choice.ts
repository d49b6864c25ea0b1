/** Which store a host picked, without a type of Effect in its hands. */
import type { Layer } from "effect"
import type { StorageCorrupt, StorageUnavailable } from "./faults.ts"
import type { Storage } from "./port.ts"

/** What can go wrong while a store is opened. */
export type StorageOpenFault = StorageUnavailable | StorageCorrupt

/** A store somebody chose, not opened yet. Made by `memoryStorage()`, `sqliteStorage(…)`, `postgresStorage(…)`. */
export interface StorageChoice {
  /** `memory`, `sqlite` or `postgres`: for messages, never to branch on. */
  readonly backend: string
  /** Opaque on purpose: a plain-Promise host must not need Effect's types. Read it with {@link layerOf}. */
  readonly layer: unknown
}

/** Wraps a storage layer for a host to hand around. */
export const storageChoice = (backend: string, layer: Layer.Layer<Storage, StorageOpenFault>): StorageChoice => ({ backend, layer })

/** The layer inside a choice. */
export const layerOf = (choice: StorageChoice): Layer.Layer<Storage, StorageOpenFault> =>
  choice.layer as Layer.Layer<Storage, StorageOpenFault>
