/** Recovery for hosts that do not use Effect: plain promises, one kind of error. */
import { Effect } from "effect"
import { valueOrThrow } from "../../foundation/value-or-throw.ts"
import { coveredOf } from "./covered.ts"
import { recover, type RecoveryNeed, recoveryNeed, type RecoverySite } from "./recover.ts"

/** Options of a recovery. */
export interface RecoveryOptions extends RecoverySite {
  /** Account of the incident, for later readers of the chain: 1 to 2,000 characters. It can be erased, as any part. */
  readonly reason: string
  /** The new chain's name; made from the old one's, and unlike any other, when left out. */
  readonly origin?: string
}

/** The chain after a recovery. */
export interface RecoveredInfo {
  readonly origin: string
  /** The key to check signatures of the new chain with. The old one stays good for the old chain. */
  readonly vkey: string
  /** The retired chain. */
  readonly previous: {
    readonly origin: string
    readonly signed: number | null
    readonly stored: number
    /** Of those that were stored, those under its last checkpoint: packs of it hold no others. */
    readonly covered: number
  }
}

/**
 * Puts a store that is behind its signing guard aside, and continues under a new name: the one way out when no newer
 * copy of the store is left.
 *
 * What was signed and is not in the store is given up for good; record 0 of the new chain says how much that is. No
 * governor may be open. Stopped anywhere, it is finished by calling it again.
 *
 * - Fails: rejects with `GovernorError`: `nothing_to_recover`, `reason_invalid`, `origin_taken`,
 *   `recovery_unsupported`, those of a refused start, or a fault.
 * - Spec: decision 0010.
 */
export const recoverGovernor = async ({ origin, reason, ...site }: RecoveryOptions): Promise<RecoveredInfo> => {
  const recovered = valueOrThrow(await Effect.runPromiseExit(recover(site, { reason, origin })))
  const { previous } = recovered
  return {
    origin: recovered.origin,
    vkey: recovered.vkey,
    previous: {
      origin: previous.origin,
      signed: previous.signedSize,
      stored: previous.storedSize,
      covered: coveredOf(previous)
    }
  }
}

/**
 * Says what {@link recoverGovernor} would give up. Writes nothing.
 *
 * - Fails: rejects as {@link recoverGovernor} does; `nothing_to_recover` where a start would succeed.
 * - Spec: decision 0010.
 */
export const recoveryNeeded = async (site: RecoverySite): Promise<RecoveryNeed> =>
  valueOrThrow(await Effect.runPromiseExit(recoveryNeed(site)))
