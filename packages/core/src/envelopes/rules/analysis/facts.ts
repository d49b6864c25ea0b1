import type { Envelope } from "../envelope.ts"
import type { Inputs } from "./inputs.ts"

/**
 * What analysis cannot see in the rules. Each may be left out: the questions that need it are then reported as not asked, never as answered.
 * `"not_built"` says that nothing in this installation can know it yet.
 */
export interface LintFacts {
  /** The innermost layer as it was read: names, effects, obligations, `coverage`, `accept_non_monotone`. */
  readonly envelope?: Envelope
  /** Recorded inputs and the time they span. */
  readonly history?: { readonly inputs: ReadonlyArray<Inputs>; readonly days: number }
  /** Who can review. `ownerOnly`: roles that nobody but the agent's owner holds. */
  readonly reviewers?: { readonly grantable: ReadonlySet<string> | "any"; readonly ownerOnly: ReadonlySet<string> }
  /** What may be touched at most: an enum's values, or an integer's greatest value. Signals without an entry are not bounded. */
  readonly blastRadius?: ReadonlyArray<BlastBound>
  /** Reviews a day that a backtest expects, and how many the reviewers handle. */
  readonly reviewLoad?: { readonly perDay: number; readonly capacityPerDay: number }
  /** Tools that a screen or the recorder saw. */
  readonly toolsSeen?: ReadonlyArray<string>
  /** The highest tier of the agents concerned, and whether what a high tier needs is there. */
  readonly safety?: { readonly tier: number; readonly breakerArmed: boolean | "not_built"; readonly drillCurrent: boolean | "not_built" }
}

/** One bound of a blast radius. */
export type BlastBound = { readonly signal: string; readonly values: ReadonlyArray<string> } | { readonly signal: string; readonly max: number }
