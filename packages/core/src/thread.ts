/** What a storage or an examiner may run in a worker thread: pure, without Effect. */
export { Rehasher } from "./chain/check/rehash-run.ts"
export {
  type Debts, eventEntropyBytes, firstDeliveryId, firstEventId, type Lane, type NewDelivery, type NewEvent, type OutboxDraft, type OutboxView,
  outboxConflicts, owe, takeTurns, type Turns, wanted, wantedKey
} from "./storage/outbox/rules.ts"
export { answer } from "./verdicts/envelopes/examination/answer.ts"
export type { EventJson } from "./verdicts/envelopes/examination/history-json.ts"
export { type Answers, inPlaceLimits, type Kind, type Limits, type Questions, threadLimits } from "./verdicts/envelopes/examination/questions.ts"
