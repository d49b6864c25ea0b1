/**
 * Entry point for examiners that run in a worker thread: questions about envelopes and their answers. Pure, without
 * Effect.
 */
export { answer } from "./verdicts/envelopes/examination/answer.ts"
export type { EventJson } from "./verdicts/envelopes/examination/history-json.ts"
export {
  type Answers,
  inPlaceLimits,
  type Kind,
  type Limits,
  type Questions,
  threadLimits
} from "./verdicts/envelopes/examination/questions.ts"
