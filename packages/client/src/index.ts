/** The client of agents. What is not listed here may change without notice. */
export type { AgentClient, Client, ClientOptions, Question, Witnessed } from "./client.ts"
export { MAX_STALE_MS, openClient } from "./client.ts"
export type { Flushed } from "./capture/recorder.ts"
export { DecisionRefused } from "./capture/recorder.ts"
export type { Entry, UnreportedGap } from "./capture/entry.ts"
export type { Spool, SpoolBounds } from "./capture/spool.ts"
export { defaultBounds, memorySpool } from "./capture/spool.ts"
export type { ClientClock } from "./clock.ts"
export { systemClock } from "./clock.ts"
export { ActionDenied } from "./enforce/denied.ts"
export type { Action, Guard, Running } from "./enforce/guard.ts"
export { actionDigest } from "./action-digest.ts"
export { EffectFailed, EffectUnknown } from "./enforce/guard.ts"
export { ServerRefused } from "./http/server-refused.ts"
export type { EffectClass, KillDenial, KillView } from "./kill/kill-view.ts"
export type { KillWatch } from "./kill/kill-watch.ts"
export type { EnvelopeCache } from "./local/envelope-cache.ts"
export type { Reviews, ReviewWait } from "./reviews/reviews.ts"
export { MAX_HOLD_MS } from "./reviews/reviews.ts"
export type { Problem } from "./problem.ts"
export type { Redact } from "./redact.ts"
export { REDACTED, redactMembers } from "./redact.ts"
export type {
  AgentInfo,
  CaptureTier,
  Decision,
  Evaluation,
  Gap,
  Json,
  KillResponse,
  KillStatus,
  LocalVerdict,
  Outcome,
  Receipt,
  Review,
  Registration,
  Settlement,
  Usage
} from "./wire.ts"
