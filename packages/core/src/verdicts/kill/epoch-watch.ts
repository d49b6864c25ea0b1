/** Waits for the next change of the kill state, made by this process or another one. */
import { Effect, type Scope } from "effect"
import { KILL_EPOCH } from "@flyball/rules"
import { CommitFeed } from "../../storage/commit-feed.ts"
import type { StorageApi } from "../../storage/port.ts"
import { storeWatch } from "../../storage/store-watch.ts"

/**
 * How often the epoch's document is read while somebody waits. Unit: milliseconds. One read for all of them: what
 * another process activates is known here this much later.
 */
export const EPOCH_POLL_MS = 250

/** Ends when the epoch's document has another version than the one that the caller read. */
export type NextChange = (version: number) => Effect.Effect<void>

/** A watch over a store. Nobody who waits costs nothing. */
export const epochWatch = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<NextChange, never, CommitFeed | Scope.Scope> {
  const { next, wake } = yield* storeWatch<number>({
    pollMs: EPOCH_POLL_MS,
    read: () => Effect.map(storage.get(KILL_EPOCH.collection, KILL_EPOCH.id), (epoch) => epoch?.version ?? 0),
    isNews: (known, version) => version !== known
  })
  // Who read the state before the commit has an older version.
  yield* (yield* CommitFeed).subscribe(({ puts }) => {
    if (puts?.some(({ collection }) => collection === KILL_EPOCH.collection) === true) wake()
  })
  return next
})
