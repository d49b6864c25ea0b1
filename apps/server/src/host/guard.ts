/** The signing guard as the settings say: files in the data folder, or a database that hosts share. */
import { resolve } from "node:path"
import type { KeysChoice, SignedState } from "@flyball/core"
import {
  acceptGuardState,
  dataFolder,
  guardInDoubt,
  installGuardState,
  readGuardState,
  removeGuardState
} from "@flyball/node"
import { postgresGuard } from "@flyball/storage-sql"
import { guardPlace, withPostgresGuard } from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import type { Settings } from "../settings/read.ts"

/** The settings that say where keys and guard are. */
export type GuardSettings = Pick<Settings, "dataDir" | "guard">

/** Keys of the data folder, with the guard that the settings name. */
export const folderKeys = (
  { dataDir, guard }: GuardSettings,
  { origin, readOnly = false }: { readonly origin?: string | null; readonly readOnly?: boolean } = {}
): KeysChoice =>
  dataFolder({
    dir: dataDir,
    ...(origin === undefined || origin === null ? {} : { origin }),
    ...(guard === null ? {} : { guard: postgresGuard({ ...guard, readOnly }) })
  })

/** Operations of a backup and a restore on the guard. All fail with a sentence where the guard cannot be reached. */
export interface GuardCopies {
  /** For a person, without a password. */
  readonly place: string
  readonly read: () => Promise<SignedState | null>
  readonly inDoubt: () => Promise<boolean>
  /** As `installGuardState` of `@flyball/node`. */
  readonly install: (state: SignedState) => Promise<boolean>
  readonly accept: () => Promise<SignedState | null>
  readonly takeBack: (state: SignedState) => Promise<void>
}

/** The guard, opened for each of these alone. */
export const guardCopies = ({ dataDir, guard }: GuardSettings): GuardCopies => {
  if (guard === null)
    return {
      place: resolve(dataDir),
      read: () => readGuardState(dataDir),
      inDoubt: () => guardInDoubt(dataDir),
      install: (state) => installGuardState(dataDir, state),
      accept: () => acceptGuardState(dataDir),
      takeBack: (state) => removeGuardState(dataDir, state)
    }
  const held = (): Promise<SignedState | null> =>
    Effect.runPromise(withPostgresGuard({ ...guard, readOnly: true }, ({ read }) => read))
  // The guard in a folder counts until the shared one holds a state.
  return {
    place: guardPlace(guard),
    read: async () => (await held()) ?? readGuardState(dataDir),
    inDoubt: async () =>
      (await held()) === null
        ? guardInDoubt(dataDir)
        : Effect.runPromise(withPostgresGuard({ ...guard, readOnly: true }, ({ inDoubt }) => inDoubt)),
    install: (state) => Effect.runPromise(withPostgresGuard(guard, ({ install }) => install(state))),
    accept: async () =>
      (await held()) === null
        ? acceptGuardState(dataDir)
        : Effect.runPromise(withPostgresGuard(guard, ({ accept }) => accept)),
    takeBack: (state) => Effect.runPromise(withPostgresGuard(guard, ({ takeBack }) => takeBack(state)))
  }
}
