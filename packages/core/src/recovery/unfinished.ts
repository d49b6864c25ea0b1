/** Whether a recovery was stopped halfway. Pure. */
import type { Previous } from "@flyball/evidence"
import type { SignedState } from "../chain/guard.ts"

/**
 * True when the store holds a new chain while the key or the guard still belongs to the one before it.
 *
 * A recovery goes store, guard, key: so one look at the two tells what is left to do.
 */
export const isUnfinished = (previous: Previous | null, keyOrigin: string | null, signed: SignedState | null): boolean =>
  previous !== null && (keyOrigin === previous.origin || signed?.origin === previous.origin)
