/** Which store a host picked, without a type of Effect in its hands. */
import { Layer } from "effect"
import type { StorageCorrupt, StorageUnavailable } from "./faults.ts"
import type { Storage } from "./port.ts"
import { RetiredStores, type Retirement } from "./retirement.ts"

/** Faults of opening a store. */
export type StorageOpenFault = StorageUnavailable | StorageCorrupt

/** A store, chosen and not opened yet. Made by `memoryStorage()`, `sqliteStorage(…)`, `postgresStorage(…)`. */
export interface StorageChoice {
  /** `memory`, `sqlite` or `postgres`: for messages, never to branch on. */
  readonly backend: string
  /** Opaque on purpose: a plain-Promise host must not need Effect's types. Read it with {@link layerOf}. */
  readonly layer: unknown
  /** How a recovery retires the store; null where it cannot. Opaque too: read it with {@link retirementOf}. */
  readonly retirement: unknown
  /** Describes the problem with the options of this choice in half a sentence; opening fails with the same text. */
  readonly problem?: string | null
  /** True where nothing may be written: a governor over it runs no job, signs nothing, and begins no chain. */
  readonly readOnly?: boolean
}

/** Makes a choice of a store from a layer, for hosts without Effect. */
export const storageChoice = (
  backend: string,
  layer: Layer.Layer<Storage, StorageOpenFault>,
  retirement: Retirement | null = null,
  problem: string | null = null
): StorageChoice => ({
  backend,
  layer: retirement === null ? layer : Layer.merge(layer, Layer.succeed(RetiredStores, retirement.retired)),
  retirement,
  problem
})

/** Returns the layer of a choice. */
export const layerOf = (choice: StorageChoice): Layer.Layer<Storage, StorageOpenFault> =>
  choice.layer as Layer.Layer<Storage, StorageOpenFault>

/** Returns the choice's support for a recovery; null when it has none. */
export const retirementOf = (choice: StorageChoice): Retirement | null => choice.retirement as Retirement | null
