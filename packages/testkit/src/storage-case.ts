/** Defines a storage case. Spec: style section 8. */
import type { StorageApi } from "@flyball/core/storage"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"

/**
 * One thing that every store does, as a value: wants an empty store of its own, fails or dies where the store is wrong.
 */
export interface StorageCase {
  readonly name: string
  readonly run: Effect.Effect<void, unknown, Storage>
}

/** Makes a case out of what it does with its store. */
export const storageCase = (
  name: string,
  check: (storage: StorageApi) => Effect.Effect<void, unknown>
): StorageCase => ({
  name,
  run: Effect.flatMap(Storage, check)
})
