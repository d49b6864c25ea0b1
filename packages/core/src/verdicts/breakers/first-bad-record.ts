/** The first record that a check of this chain found not to be in order, for breakers that watch the chain. */
import { Effect } from "effect"
import { CHAIN_ALARMS } from "../../chain/alarm.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { StoredBreaker } from "./stored-breaker.ts"

/** Findings that are read. More than this makes the chain no worse. */
const MOST = 1_000

/** Its number; 0 where only the whole is not in order; null where nothing was found, or no breaker of these asks. */
export const firstBadRecord = (
  storage: StorageApi,
  breakers: ReadonlyArray<StoredBreaker>
): Effect.Effect<number | null, ReadFault> =>
  breakers.some(({ body }) => body.metric === "chain_verification")
    ? Effect.map(storage.list(CHAIN_ALARMS, { limit: MOST }), (found) =>
        found.length === 0 ? null : Math.min(...found.map(({ body }) => Number(body["seq"] ?? 0)))
      )
    : Effect.succeed(null)
