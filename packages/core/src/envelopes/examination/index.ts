/** Questions about envelopes and their answers, without Effect: for whoever answers them in a thread of its own. */
export { answer } from "./answer.ts"
export type { EventJson } from "./history-json.ts"
export { type Answers, inPlaceLimits, type Kind, type Limits, type Questions, threadLimits } from "./questions.ts"
