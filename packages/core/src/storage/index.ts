/** The Storage port, its faults, and what a backend is built from. */
export type { EntropySource } from "../foundation/entropy.ts"
export { Entropy } from "../foundation/entropy.ts"
export { CommitLines, LostBefore, type Weight } from "./commit-lines.ts"
export type { StorageChoice, StorageOpenFault } from "./choice.ts"
export { layerOf, retirementOf, storageChoice } from "./choice.ts"
export { type Retirement, type RetirePlan, RetiredStores } from "./retirement.ts"
export type { Admission, Fate, StoreView } from "./admit.ts"
export { admit, type DocumentAct, documentActs, erasures, isRepeat, receiptOf } from "./admit.ts"
export {
  changeProblem,
  claimProblem,
  forgetRequestProblem,
  limitProblem,
  maxPartBytes,
  maxParts,
  maxRows,
  namedProblem,
  queryProblem,
  rangeProblem
} from "./bounds.ts"
export type { Conflict } from "./faults.ts"
export {
  costProblem,
  type HeldRequest,
  type LimitPolicy,
  type LimitRequest,
  type LimitRow,
  LIMITS_SWEEP_MS,
  limitsProblem,
  type Mark,
  type PolicyState,
  rowEndS,
  type RowState,
  type Taken,
  takeLimits
} from "./limits/slots.ts"
export { isCountReached, StorageConflict, StorageCorrupt, StorageUnavailable } from "./faults.ts"
export { memoryStorage } from "./memory/memory.ts"
export type {
  Attempt,
  AttemptError,
  Claimed,
  ClaimAnswer,
  ClaimRequest,
  Delivery,
  DeliveryMove,
  DeliveryState,
  EventDraft,
  ForgetAnswer,
  ForgetRequest,
  MissedPage,
  MissedQuery,
  OutboxApi,
  OutboxChange,
  OwnedQuery,
  StoredEvent
} from "./outbox/outbox.ts"
export { SEQUENCES_OF_A_CHAIN, WEBHOOKS } from "./outbox/outbox.ts"
export { readyOutbox } from "./outbox/rules.ts"
export type {
  AsOf,
  ChangeSet,
  CommitClass,
  CommitReceipt,
  CommitTurn,
  CountAdd,
  Document,
  DocumentPut,
  Head,
  JsonObject,
  JsonValue,
  IdempotencyKey,
  PartDraft,
  ReadFault,
  RecordDraft,
  KeyRange,
  LimitsApi,
  RecordQuery,
  RecordReceipt,
  Rehashed,
  StorageApi,
  StoredPart,
  StoredRecord,
  TakenKey
} from "./port.ts"
export { Storage } from "./port.ts"
export { type DocumentText, LIST_UNITS, listDocuments, readDocument, readDocuments, unitsOf } from "./read-documents.ts"
export type { CommittedDraft, SealedPart, SealedRecord } from "./seal.ts"
export { bodyTextOf, commitDrafts, commitDraftsInSlices, emptyHead, partCount, saltBytes, sealDrafts } from "./seal.ts"
export { inSlices } from "../foundation/in-slices.ts"
export { compareText, isStorable, maxTextBytes } from "../foundation/text.ts"
export { queueTask, tasksPerTurn } from "../foundation/task-queue.ts"
export { isOptions, pathProblem, describeValue } from "../foundation/describe-value.ts"
export { instantMs, plannedTimeMs, storeTimeMs, timeProblem } from "./store-time.ts"
