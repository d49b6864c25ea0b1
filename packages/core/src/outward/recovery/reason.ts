/** Why a chain was left: the text that a person seals into record 0 of the one that follows. */
import { isVisible } from "@flyball/contract"

/**
 * Longest reason.
 *
 * - Unit: characters (code points). A few paragraphs; with the rest of record 0 it stays far under what a part may
 *   hold.
 */
export const MAX_REASON = 2_000

/**
 * Reports whether a value is a reason: 1 to {@link MAX_REASON} characters, one of them visible, and text that can be
 * sealed. For callers in plain JavaScript.
 */
export const isRecoveryReason = (reason: unknown): reason is string =>
  typeof reason === "string" && isVisible(reason) && [...reason].length <= MAX_REASON && reason.isWellFormed()
