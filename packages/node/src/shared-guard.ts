/**
 * A guard that several data folders share, in the place of the folder's own.
 *
 * A folder that has signed with a guard of its own brings that state along: it counts until the shared guard holds one,
 * goes into the shared guard before the first signature, and is deleted behind it.
 */
import type { GuardApi } from "@flyball/core"
import { sameState } from "@flyball/core"
import type { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"

/** Operations of the data folder that a shared guard needs. */
export interface FolderSide {
  /** The name in the signing key. */
  readonly origin: string
  /** The folder's own guard. */
  readonly own: Required<Pick<GuardApi, "read" | "inDoubt" | "advance">>
  /** Deletes the folder's own guard. */
  readonly dropOwn: Effect.Effect<void, StorageCorrupt | StorageUnavailable>
  /** True when the folder's key was made in it and has signed nothing. */
  readonly isUnused: Effect.Effect<boolean, StorageCorrupt | StorageUnavailable>
  /** From here on the folder's key counts as one that has signed. */
  readonly beginUse: Effect.Effect<void, StorageCorrupt | StorageUnavailable>
}

/** The shared guard as this folder uses it. */
export const sharedGuard = (shared: GuardApi, folder: FolderSide): GuardApi => {
  let isSettled = false
  // Another host may have signed with a copy of this folder's key, so the key is no new one any more.
  const settle = Effect.suspend(() => (isSettled ? Effect.void : folder.beginUse)).pipe(
    Effect.tap(Effect.sync(() => (isSettled = true)))
  )
  const advance: GuardApi["advance"] = Effect.fnUntraced(function* (from, to) {
    yield* settle
    const own = yield* folder.own.read
    if (own === null) return yield* shared.advance(from, to)
    if ((yield* shared.read) === null) {
      if (!sameState(own, from)) return false
      // It refuses by itself.
      if ((yield* folder.own.inDoubt) && own.origin === to.origin) return yield* folder.own.advance(from, to)
      if (!(yield* shared.advance(null, own))) return false
    }
    const moved = yield* shared.advance(from, to)
    if (moved) yield* folder.dropOwn
    return moved
  })
  return {
    read: Effect.gen(function* () {
      const signed = yield* shared.read
      if (signed === null) return yield* folder.own.read
      // A command that only reads may run as an account that cannot write the folder.
      if (signed.origin === folder.origin) yield* Effect.ignore(settle)
      return signed
    }),
    advance,
    inDoubt: Effect.gen(function* () {
      if ((yield* shared.read) === null) return yield* folder.own.inDoubt
      return yield* shared.inDoubt ?? Effect.succeed(false)
    }),
    mayBegin: folder.isUnused
  }
}
