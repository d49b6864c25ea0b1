import type { Outcome } from "../../language/compiled.ts"
import type { Inputs } from "../cells/inputs.ts"

/** Inputs that come out differently under a new version. Safe to write as JSON. */
export interface Transition {
  readonly from: Outcome
  readonly to: Outcome
  readonly direction: "loosens" | "tightens"
  /** How many inputs of the common domain, in decimal digits, and their share; null where they were not counted. */
  readonly volume: string | null
  readonly share: string | null
  readonly example: Inputs
  /** The rule that decides the example in each version: its id, `@default`, `@invalid_signal` or `@missing_signal`. */
  readonly decidedBy: { readonly from: string; readonly to: string }
  /** How many recorded inputs; null where no history was given. */
  readonly historyCount: number | null
}

/**
 * Differences of a new version.
 *
 * `change`: `equal`: no outcome differs; `tightening_only`: proved that nothing comes out less restrictive; `loosens`:
 * something does; `unknown`: the budget was spent before either was proved, to be treated as `loosens`. Spec: decision
 * 0022.
 */
export interface DiffReport {
  readonly change: "equal" | "tightening_only" | "loosens" | "unknown"
  /** All of them, loosenings first, then by outcomes. Where `complete` is false some may be missing. */
  readonly transitions: ReadonlyArray<Transition>
  /** True when every transition is listed and counted. `change` may be proved all the same. */
  readonly complete: boolean
  /** Points of the common domain, in decimal digits; null where there were too many boxes. */
  readonly domain: string | null
  /** How signals that differ between the versions were treated. */
  readonly notes: ReadonlyArray<string>
  /** Recorded inputs that were run through both versions. */
  readonly historyTotal: number | null
  /** "Newly allowed: …" and its like, in plain English. */
  readonly sentence: string
}
