/** Whether a recovery was stopped halfway. Pure. */
import type { Previous } from "@flyball/evidence"
import type { SignedState } from "../chain/guard.ts"

/** What a look at store, key and guard found. */
export interface Found {
  readonly origin: string
  /** Records that the store holds. */
  readonly size: number
  /** What record 0 says of the chain before; null where there was none. */
  readonly previous: Previous | null
  /** The name of the key; null for a signer that keeps none. */
  readonly keyOrigin: string | null
  readonly signed: SignedState | null
}

/**
 * True when the store holds record 0 of a new chain and nothing else, while the key or the guard still belongs to the chain before it.
 *
 * A recovery goes store, guard, key, and no server starts before it is done: so a second record, or a guard that has signed for more than record 0 or was lost
 * since, says that it was finished. A key or a guard of the old name is then from an older copy, such as a vault's.
 */
export const isUnfinished = ({ keyOrigin, origin, previous, signed, size }: Found): boolean =>
  previous !== null && size === 1 && (keyOrigin === previous.origin || signed?.origin === previous.origin) && mayFollow(previous, origin, signed)

/** Whether this guard can have been left by a recovery that stopped. */
const mayFollow = (previous: Previous, origin: string, signed: SignedState | null): boolean => {
  if (signed === null) return previous.signedSize === null
  if (signed.origin === origin) return signed.size === 1
  return previous.signedSize === null || signed.origin === previous.origin
}
