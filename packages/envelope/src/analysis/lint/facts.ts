import type { Envelope } from "../../language/envelope.ts"
import type { TierNeeds } from "../../language/floor-words.ts"
import type { Inputs } from "../cells/inputs.ts"

/**
 * The lowest tier, as a number (3 for L3), at which lint expects an armed breaker and an attested drill (W212). Spec:
 * `envelope/1` section 14, W212.
 */
export const GUARDED_TIER = 3

/**
 * Facts for analysis that the rules do not contain. Each may be left out: the questions that need it are then reported
 * as not checked, never as answered. Spec: decision 0022.
 */
export interface LintFacts {
  /** The innermost layer as it was read: names, effects, obligations, `coverage`, `accept_non_monotone`. */
  readonly envelope?: Envelope
  /** Recorded inputs and the time they span. */
  readonly history?: { readonly inputs: ReadonlyArray<Inputs>; readonly days: number }
  /**
   * The people who can review: roles that somebody can have, and roles that nobody but the agent's owner has.
   * `othersUnknown`: people may have other roles too, which the host gives them.
   */
  readonly reviewers?: {
    readonly grantable: ReadonlySet<string> | "any"
    readonly ownerOnly: ReadonlySet<string>
    readonly othersUnknown?: boolean
  }
  /**
   * The declared blast radius: an enum's values, or an integer's greatest value. Signals without an entry are not
   * bounded.
   */
  readonly blastRadius?: ReadonlyArray<BlastBound>
  /** Reviews a day that a backtest expects, and how many the reviewers handle. */
  readonly reviewLoad?: { readonly perDay: number; readonly capacityPerDay: number }
  /** Tools that a screen or the recorder saw. */
  readonly toolsSeen?: ReadonlyArray<string>
  /** Of the agents concerned that are at tier {@link GUARDED_TIER} or above: how many lack what a high tier needs. */
  readonly safety?: {
    /** Without a breaker that is switched on and not tripped. */
    readonly withoutBreaker: number
    /** Without an attested drill that counts. */
    readonly withoutDrill: number
  }
  /** The tier of the one agent that the envelope is for, 0 to 4, and what each tier needs, in words. */
  readonly agentTier?: { readonly tier: number; readonly needs: TierNeeds }
}

/**
 * One bound of a blast radius. `ofTools`: it bounds calls of these tools alone, where the envelope has a signal `tool`.
 */
export type BlastBound =
  | { readonly signal: string; readonly values: ReadonlyArray<string> }
  | { readonly signal: string; readonly max: number; readonly ofTools?: ReadonlyArray<string> }
