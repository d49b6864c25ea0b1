/** The record kinds that recomputation reads. The caller may leave out all others. */
import { writersOfKinds } from "../records/writers-of-kinds.ts"

/**
 * Kinds of which only ids are read. What they say besides decides nothing here, so they are not held against the
 * catalogue.
 */
export const readForIds: ReadonlySet<string> = new Set([
  "capture.gap",
  "decision.witnessed",
  "ingest_key.minted",
  "ingest_key.revoked",
  "principal.seen"
])

/** Kinds by which instances, or their silence, answer an activation. */
export const stopReportKinds: ReadonlySet<string> = new Set(["kill.acknowledged", "kill.stopped", "kill.unconfirmed"])

/** Whether recomputation reads records of a kind. Others need not be passed. Spec: decision 0026. */
export const isRecomputed = (kind: string): boolean =>
  Object.hasOwn(writersOfKinds, kind) || kind === "principal.seen" || kind === "part.erased"

/** Whether recomputation reads more of a kind than its writer. */
export const isJudged = (kind: string): boolean =>
  readForIds.has(kind) ||
  kind === "evaluation.made" ||
  kind === "eval.recorded" ||
  kind === "instance.ended" ||
  kind === "decision.settled" ||
  kind === "meter.voided" ||
  kind === "part.erased" ||
  kind.startsWith("agent.") ||
  kind.startsWith("envelope.") ||
  kind.startsWith("drill.") ||
  kind === "channel.checked" ||
  kind === "kill.requested" ||
  kind === "model.registered" ||
  kind === "kill.activated" ||
  kind === "kill.expected" ||
  kind === "kill.released" ||
  kind === "response_policy.changed" ||
  kind.startsWith("review.") ||
  kind.startsWith("breaker.") ||
  stopReportKinds.has(kind) ||
  kind.startsWith("standing_approval.") ||
  kind.startsWith("waiver.")

/** Whether recomputation reads a part of a record of this kind. Others need not be passed. Spec: decision 0026. */
export const isRecomputedPart = (name: string, kind: string): boolean =>
  recomputedParts.has(name) ||
  (kind === "evaluation.made" && ofEvaluations.has(name)) ||
  (kind === "standing_approval.proposed" && name === "box") ||
  (kind === "eval.recorded" && name === "suite") ||
  (kind === "mapping.changed" && name === "mapping") ||
  (kind === "kill.unconfirmed" && name === "instances")

/**
 * Parts of an evaluation that are read beside its signals. Decisions have parts of the same names, which are not read.
 */
const ofEvaluations: ReadonlySet<string> = new Set(["action", "args"])

/** Parts that are read of records of any kind. */
export const recomputedParts: ReadonlySet<string> = new Set([
  "advice",
  "envelope",
  "expected",
  "missed",
  "owner",
  "policy",
  "profile",
  "signals",
  "waiver"
])
