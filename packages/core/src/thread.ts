/** Entry point for storages that work in a worker thread: pure, without Effect. */
export { Rehasher } from "./chain/check/rehash-run.ts"
export {
  type Debts,
  eventEntropyBytes,
  firstDeliveryId,
  firstEventId,
  type Lane,
  type NewDelivery,
  type NewEvent,
  type OutboxDraft,
  type OutboxView,
  owe,
  takeTurns,
  type Turns,
  wanted,
  wantedKey
} from "./storage/outbox/rules.ts"
export {
  type AdmissibleChange,
  admit,
  type DocumentAct,
  documentActs,
  isRepeat,
  receiptOf,
  type StoreView
} from "./storage/admit.ts"
export {
  type LimitRequest,
  LIMITS_SWEEP_MS,
  rowEndS,
  type RowState,
  type Taken,
  takeLimits
} from "./storage/limits/slots.ts"
export { commitDraft, saltBytes, sealDrafts } from "./storage/seal.ts"
export { LAST_STORE_MS, plannedTimeMs, storeTimeMs, timeProblem } from "./storage/store-time.ts"
