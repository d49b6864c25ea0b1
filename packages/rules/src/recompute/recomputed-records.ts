/** The record kinds that recomputation reads. The caller may leave out all others. */
import { writersOfKinds } from "../records/writers-of-kinds.ts"

/**
 * Kinds of which only ids are read. What they say besides decides nothing here, so they are not held against the
 * catalogue.
 */
const readForIds: ReadonlySet<string> = new Set([
  "capture.gap",
  "decision.witnessed",
  "ingest_key.minted",
  "ingest_key.revoked",
  "platform_key.minted",
  "platform_key.revoked",
  "principal.seen"
])

/** True when recomputation reads records of a kind. Others need not be passed. Spec: decision 0026. */
export const isRecomputed = (kind: string): boolean =>
  Object.hasOwn(writersOfKinds, kind) || kind === "principal.seen" || kind === "part.erased"

/** Kinds of which only the writer and the step are judged. */
const ofNoJudge: ReadonlySet<string> = new Set([
  "evidence.exported",
  "extraction.revealed",
  "mapping.changed",
  "webhook.changed",
  "webhook.created",
  "webhook.revoked"
])

/** True when recomputation reads more of a kind than its writer. */
export const isJudged = (kind: string): boolean => isRecomputed(kind) && !ofNoJudge.has(kind)

/** True when records of a kind must be as the catalogue says, to be judged and folded. */
export const isHeldToCatalogue = (kind: string): boolean => isJudged(kind) && !readForIds.has(kind)

/** True when records of a kind change the state that evaluations are recomputed with. */
export const isFolded = (kind: string): boolean => folded.has(kind) || /^(agent|drill|envelope|waiver)\./.test(kind)

const folded: ReadonlySet<string> = new Set(["kill.activated", "kill.released", "model.registered", "part.erased"])

/**
 * True when recomputation reads a part of a record of this kind, which has the parts `beside`. Others need not be
 * passed. Of a decision with signals an SDK decided: its arguments are read with them. Spec: decision 0026.
 */
export const isRecomputedPart = (name: string, kind: string, beside: ReadonlyArray<string>): boolean =>
  recomputedParts.has(name) ||
  (kind === "decision.witnessed" && name === "args" && beside.includes("signals")) ||
  (kind === "evaluation.made" && ofEvaluations.has(name)) ||
  (kind === "standing_approval.proposed" && name === "box") ||
  (kind === "eval.recorded" && name === "suite") ||
  (kind.startsWith("mcp.") && (name === "manifest" || name.startsWith("mcp_"))) ||
  (kind === "fairness.screened" && name === "screen") ||
  (kind === "breaker.armed" && name === "good_runs") ||
  isOfDecisions(name, kind) ||
  (kind.startsWith("analysis.") && (name === "analysis" || name === "dataset")) ||
  (kind === "route_plan.completed" && (name === "plan" || name === "problem")) ||
  (kind === "extraction.completed" && (name === "document" || name === "fields")) ||
  ((kind === "workflow.changed" || kind === "monitor.changed") && name === "definition") ||
  (kind === "execution.started" && name === "inputs") ||
  (kind === "execution.waiting" && name === "subject") ||
  (kind === "execution.finished" && name === "outputs") ||
  (kind === "mapping.changed" && name === "mapping") ||
  (kind === "kill.unconfirmed" && name === "instances")

/** True for a part that is read of decisions counted again alone: see `keepsDecisions`. Spec: decision 0074. */
export const isOfDecisions = (name: string, kind: string): boolean => kind === "decision.witnessed" && name === "labels"

/**
 * Parts of an evaluation that are read beside its signals. Of other decisions than those of an SDK, parts of the same
 * names are not read.
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
