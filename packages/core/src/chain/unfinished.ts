/** Finds a recovery that was stopped halfway. Pure. */
import type { Previous } from "@flyball/evidence"
import type { SignedState } from "./keys/guard.ts"

/** State of store, key and guard. */
export interface Found {
  readonly origin: string
  /** Records that the store holds. */
  readonly size: number
  /** The chain before this one, according to record 0; null where there was none. */
  readonly previous: Previous | null
  /** The name of the key; null for a signer that keeps none. */
  readonly keyOrigin: string | null
  readonly signed: SignedState | null
  /** True when the guard came out of a copy, and nobody has said that nothing was signed after it. */
  readonly inDoubt: boolean
  /** True when the store holds a checkpoint of the new chain. */
  readonly isSigned: boolean
}

/**
 * True when the store holds record 0 of a new chain and nothing else, while the key or the guard still belongs to the
 * chain before it.
 *
 * A recovery goes store, guard, checkpoint, key, and no server starts before it is done. So a second record, a
 * checkpoint without the guard that was moved before it, or a guard that has signed for more or is a copy, proves that
 * it was finished. A key or a guard of the old name then comes from an older copy, such as a vault's, and so may the
 * store: a process that continued it would sign again what was signed after the copy.
 */
export const isUnfinished = (found: Found): boolean =>
  found.previous !== null &&
  found.size === 1 &&
  (found.keyOrigin === found.previous.origin || found.signed?.origin === found.previous.origin) &&
  mayFollow(found.previous, found)

/** Reports whether a recovery that stopped can have left this guard. */
const mayFollow = (previous: Previous, { inDoubt, isSigned, origin, signed }: Found): boolean => {
  if (signed?.origin === origin) return signed.size === 1 && !inDoubt
  return !isSigned && (previous.signedSize === null || signed?.origin === previous.origin)
}
