/** The limits of the processes of `processes.test.ts`. */
import type { LimitPolicy } from "@flyball/core"

/** Taken from one by one: 600 an hour. */
export const EXACT: LimitPolicy & { readonly window: number } = { name: "exact", limit: 600, window: 3_600 }

/** Windows that pass while the test runs: one that is taken from one by one, and one that is taken from ahead. */
export const POLICIES: ReadonlyArray<LimitPolicy & { readonly window: number }> = [
  { name: "slow", limit: 12, window: 2 },
  { name: "fast", limit: 400, window: 3 }
]

/** Calls at once. */
export const PERMITS = 5

/** A monthly quota. */
export const QUOTA = { unit: "sales", resource: "tokens", limit: 3_000 }
