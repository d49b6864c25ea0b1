import type { LintCode, LintLevel } from "./codes.ts"
import type { Inputs } from "../cells/inputs.ts"

/** One finding of analysis. A value, never thrown; safe to write as JSON. Spec: `envelope/1` section 14. */
export interface LintFinding {
  readonly code: LintCode
  readonly level: LintLevel
  /** The rules it is about, the one at fault first. */
  readonly rules: ReadonlyArray<string>
  /** Describes the finding and the fix in one or two sentences. */
  readonly message: string
  /** An input that shows it. Where there is none the message ends in saying so. */
  readonly example: Inputs | null
  /**
   * How many inputs of the domain it is about, in decimal digits, and their share of it ("0.42 %"). Not a probability.
   */
  readonly volume: string | null
  readonly share: string | null
  /** How many recorded inputs it is about. */
  readonly historyCount: number | null
}

/** A question that was not answered: the budget was spent, or a fact it needs is missing. */
export interface OpenQuestion {
  readonly code: LintCode
  /** The rules that the question is about; none: the envelope. */
  readonly rules: ReadonlyArray<string>
  readonly reason: string
}

/** The findings on an envelope. Spec: `envelope/1` section 14; decision 0022. */
export interface LintReport {
  /** False where a budget was spent: then `open` names what is not known, and a finding E110 says so. */
  readonly complete: boolean
  readonly findings: ReadonlyArray<LintFinding>
  /** Codes that were decided for the whole envelope: what is not among `findings` is proved not to be there. */
  readonly proved: ReadonlyArray<LintCode>
  /** Questions whose budget was spent. */
  readonly open: ReadonlyArray<OpenQuestion>
  /** Questions that were not checked, and why: facts that the caller did not give, or that no module can give yet. */
  readonly notChecked: ReadonlyArray<OpenQuestion>
  /** Points of the whole domain, in decimal digits; null where there were too many boxes to lay out. */
  readonly domain: string | null
  /**
   * Share of the domain that each rule decides, and each layer's default (`@default`, of the innermost); null where it
   * was not counted.
   */
  readonly decides: Readonly<Record<string, string>> | null
}
