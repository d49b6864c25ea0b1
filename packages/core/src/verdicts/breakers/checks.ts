/**
 * The last reading of each breaker, and its time: working state, one document for each agent. No record exists for a
 * reading that trips nothing.
 */
import { Effect } from "effect"
import type { DocumentPut, ReadFault, StorageApi } from "../../storage/port.ts"

/** Collection of the last readings. */
export const BREAKER_CHECKS = "breaker_checks"

/** One reading. Unit: milliseconds since 1970 UTC. */
export type LastCheck = { readonly atMs: number; readonly value: string }

/** The last readings of an agent's breakers, by the breaker's id. */
export const readChecks = (
  storage: StorageApi,
  agentId: string
): Effect.Effect<{ readonly [breakerId: string]: LastCheck }, ReadFault> =>
  Effect.map(
    storage.get(BREAKER_CHECKS, agentId),
    (document) => (document?.body ?? {}) as unknown as { readonly [breakerId: string]: LastCheck }
  )

/** The put of an agent's readings. The last one to write counts. */
export const checksPut = (agentId: string, checks: { readonly [breakerId: string]: LastCheck }): DocumentPut => ({
  collection: BREAKER_CHECKS,
  id: agentId,
  expectedVersion: null,
  body: checks
})
