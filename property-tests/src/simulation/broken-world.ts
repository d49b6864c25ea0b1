/** Defines worlds that are broken on purpose, and stores that do something else. */
import type { ChangeSet, StorageApi } from "@flyball/core/storage"
import type { Ports } from "./hop.ts"
import type { SimulationOptions } from "./options.ts"

/** Ports whose store does something else. */
export const withStorage =
  (change: (storage: StorageApi) => Partial<StorageApi>) =>
  (real: Ports): Ports => ({ ...real, storage: { ...real.storage, ...change(real.storage) } })

/** A store that does something else with commits that hold such a record. */
export const withCommit = (
  kind: string,
  instead: (storage: StorageApi, change: ChangeSet, count: number) => ReturnType<StorageApi["commit"]>
) => {
  let count = 0
  return withStorage((storage) => ({
    commit: (change) =>
      (change.records ?? []).some((record) => record.kind === kind)
        ? instead(storage, change, ++count)
        : storage.commit(change)
  }))
}

/** A world that is broken, and the checker that must see it. */
export interface BrokenWorld {
  readonly what: string
  readonly foundBy: string
  /** Pattern of the problem; any problem of that checker when left out. */
  readonly says?: RegExp
  /** The seed that shows it first, where that is known: the search begins there. */
  readonly from?: number
  /** Changes the options that the seed chose. */
  readonly options?: (chosen: SimulationOptions) => SimulationOptions
  readonly ports: () => (real: Ports) => Ports
}
