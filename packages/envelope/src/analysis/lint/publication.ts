import { lintCodes, withoutExample } from "./codes.ts"
import type { DiffReport } from "../diff/diff-report.ts"
import type { LintFinding } from "./lint-report.ts"

/** Inputs of a publication check. */
export interface PublicationFacts {
  /** True when somebody other than the author approves. */
  readonly secondApprover: boolean
  /** True when a backtest was run and stored; one over an empty history counts. */
  readonly backtest: boolean
}

/**
 * E111: a version that newly allows something, or that is not proved to be only stricter, needs a second approver and a
 * backtest.
 *
 * - Spec: the gate of publication; api.md, POST /bound/envelopes/{id}/publish.
 */
export const publicationFindings = (
  { change, sentence, transitions }: DiffReport,
  { backtest, secondApprover }: PublicationFacts
): ReadonlyArray<LintFinding> => {
  if (change === "equal" || change === "tightening_only" || (secondApprover && backtest)) return []
  const missing = [
    ...(secondApprover ? [] : ["the approval of a governor who is not its author"]),
    ...(backtest ? [] : ["a backtest"])
  ].join(" and ")
  const why = change === "unknown" ? "It is not proved that this version only tightens." : sentence
  const worst = transitions.find(({ direction }) => direction === "loosens")
  const message = `${why} Publishing it needs ${missing}.`
  return [
    {
      code: "E111",
      level: lintCodes.E111.level,
      rules: worst === undefined || worst.decidedBy.to.startsWith("@") ? [] : [worst.decidedBy.to],
      message: worst === undefined ? withoutExample("E111", message) : message,
      example: worst?.example ?? null,
      volume: worst?.volume ?? null,
      share: worst?.share ?? null,
      historyCount: worst?.historyCount ?? null
    }
  ]
}
