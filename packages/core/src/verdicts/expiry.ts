/** Bounds of the time at which something that people allow ends. */
import { type DetailItem, detailItem } from "@flyball/contract"
import { parseInstant } from "@flyball/evidence"

/**
 * Lists what is wrong with `expires_at` of a body: it lies in the past, or further ahead than allowed.
 *
 * - Unit: `nowMs` and `mostMs` in milliseconds.
 */
export const expiryProblems = (expiresAt: string, nowMs: number, mostMs: number): ReadonlyArray<DetailItem> => {
  const atMs = parseInstant(expiresAt)
  return atMs !== null && atMs > nowMs && atMs <= nowMs + mostMs
    ? []
    : [
        detailItem(
          ["body", "expires_at"],
          "value_error",
          `Expected a time from now to ${mostMs / 86_400_000} days from now`,
          expiresAt
        )
      ]
}
