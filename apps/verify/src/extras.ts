/** Results of a run besides the report on the pack. Each is null where it was not requested, or does not apply. */
import type { AnswerReport } from "./answer/answer-text.ts"
import type { BodiesReport } from "./bodies/bodies-report.ts"
import type { StopCertificate, UsageReport } from "@flyball/rules"
import type { ShownPrevious } from "./previous-chain.ts"
import type { Replayed } from "./replay/replay-report.ts"
import type { Summary } from "./summary/summary.ts"

/** Two contradicting checkpoints, printed whole: together they are the evidence. */
export interface SplitView {
  readonly notes: readonly [string, string]
}

/** All of it. */
export interface Extras {
  readonly splitView: SplitView | null
  readonly previous: ShownPrevious | null
  readonly replayed: Replayed | null
  readonly bodies: BodiesReport | null
  readonly summary: Summary | null
  readonly certificate: StopCertificate | null
  readonly usage: UsageReport | null
  readonly answer: AnswerReport | null
}

/** Nothing of it. */
export const noExtras: Extras = {
  splitView: null,
  previous: null,
  replayed: null,
  bodies: null,
  summary: null,
  certificate: null,
  usage: null,
  answer: null
}
