/** The envelope language: read, compile, decide, meter, analyse, export. Pure: no Effect, no clock, no storage. */
export { backtest, type BacktestReport } from "./analysis/backtest/backtest.ts"
export { type LintCode, lintCodes } from "./analysis/lint/codes.ts"
export {
  budgetsOf,
  comparePublication,
  floored,
  type GateLayer,
  type Limits
} from "./analysis/diff/compare-publication.ts"
export type { DiffReport } from "./analysis/diff/diff-report.ts"
export { type BlastBound, GUARDED_TIER, type LintFacts } from "./analysis/lint/facts.ts"
export type { LintFinding, LintReport } from "./analysis/lint/lint-report.ts"
export { lint } from "./analysis/lint/lint.ts"
export { publicationFindings } from "./analysis/lint/publication.ts"
export type { RecordedEvaluation, RecordedEvent, RecordedReading } from "./analysis/backtest/recorded-evaluation.ts"
export { recordedInputs } from "./analysis/backtest/recorded-inputs.ts"
export { type CaseResult, type CasesReport, runCases } from "./analysis/run-cases.ts"
export { envelopeSentences } from "./analysis/render/sentence.ts"
export { decisionTable, tableAsMarkdown } from "./analysis/render/table.ts"
export {
  type Admitted,
  askingFor,
  type BoxProof,
  type MeasuredProof,
  measuredProof,
  PROOF_BUDGET,
  proveBox
} from "./analysis/standing-box.ts"
export { type Combination, compile } from "./compile/compile.ts"
export { type Action, decide, type KillState, prepare, type Ready, type Situation } from "./decide/decide.ts"
export { decidedByFloor } from "./decide/decided-by-floor.ts"
export type { Decision, InactiveRule, StopStep } from "./decide/decision.ts"
export type { Values } from "./decide/decode.ts"
export { explain } from "./decide/explain.ts"
export {
  LOCAL_MAX_AGE_MS,
  localObstacle,
  type LocalObstacle,
  type LocalRefusal,
  type LocalStanding,
  localVerdict,
  type LocalVerdict
} from "./decide/local-verdict.ts"
export { redactMembers } from "./decide/redact-members.ts"
export { namedSignal, signalWords } from "./decide/signal-words.ts"
export { renderTrace } from "./decide/trace.ts"
export { readWaiver, waive, type Waiver } from "./decide/waive.ts"
export { type Exported, exportEnvelope, type ExportLanguage, exportLanguages } from "./export/export-envelope.ts"
export { memberAt, REDACTED, stepsOf, UNKNOWN, valuesAt } from "./language/arguments.ts"
export { type Outcome, outcomes } from "./language/compiled.ts"
export { envelopeDigest } from "./language/digest.ts"
export type { EffectClass, Envelope, Meter } from "./language/envelope.ts"
export type {
  ConditionSource,
  EnvelopeSource,
  MeterSource,
  ObligationSource,
  RuleSource,
  SignalText
} from "./language/envelope-source.ts"
export type { Finding } from "./language/findings.ts"
export { floorSentence, type TierNeeds } from "./language/floor-words.ts"
export { MAX_ENVELOPE_BYTES, MAX_ENVELOPE_DEPTH, MAX_WINDOW_MS } from "./language/limits.ts"
export { obligationJson } from "./language/obligations.ts"
export { readEnvelope } from "./language/read-envelope.ts"
export { TIER_FLOOR, withTierFloor } from "./language/tier-floor.ts"
export { foldLatches, latchesSetBy } from "./meters/latches.ts"
export type { MeterReading, WindowState } from "./meters/meter-reading.ts"
export { type Reservation, WindowBook } from "./meters/window-book.ts"
export type { WindowLedger } from "./meters/window-ledger.ts"
export { MAX_SUM, WindowSum } from "./meters/window-sum.ts"
