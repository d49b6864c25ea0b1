/**
 * Entry point for examiners that run in a worker thread: questions about envelopes and behaviour and their
 * answers. Pure, without Effect.
 */
export { answer } from "./verdicts/envelopes/examination/answer.ts"
export {
  type Answers,
  inPlaceLimits,
  type Kind,
  type Limits,
  type Questions,
  type Rows,
  rowsOf,
  threadLimits,
  withRows
} from "./verdicts/envelopes/examination/questions.ts"
