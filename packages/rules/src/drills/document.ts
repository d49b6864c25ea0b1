/** A drill as state: an exercise of the kill switch, its result and its attestation. Plain data. */
import type { AgentDocument } from "../agents/document.ts"
import { conditionsOf, DRILL_AGE_MS } from "../agents/tier-gate.ts"
import type { DrillMode, KillTargetType } from "../kill/response.ts"
import type { DrillResult } from "./result.ts"

/** Collection of the drills: one document each, under its id `drl_…`. */
export const DRILLS = "drills"

/** A drill. Times in milliseconds since 1970 UTC. Spec: format 1 section 8, `drill.started`; decision 0048. */
export type DrillDocument = {
  readonly targetType: KillTargetType
  readonly targetId: string
  readonly mode: DrillMode
  /** Description of the exercise; null once its part was erased. */
  readonly scenario: string | null
  /** The hypothesis: every instance has acknowledged after this long. */
  readonly sloMs: number
  /** The stop condition: a live drill is released after this long. */
  readonly maxDurationMs: number
  readonly startedBy: string
  readonly startedAtMs: number
  readonly activationId: string
  readonly completedBy: string | null
  readonly completedAtMs: number | null
  readonly result: DrillResult | null
  readonly attestedBy: string | null
  readonly attestedAtMs: number | null
}

/** Status of a drill. */
export type DrillStatus = "started" | "completed" | "attested"

/** Status of a drill. Spec: decision 0048. */
export const drillStatus = ({ attestedAtMs, completedAtMs }: DrillDocument): DrillStatus =>
  attestedAtMs !== null ? "attested" : completedAtMs !== null ? "completed" : "started"

/** Look-up keys: its target always, and while it runs that it does. */
export const drillKeys = (drill: DrillDocument): { readonly [key: string]: string } => ({
  target: `${drill.targetType}:${drill.targetId}`,
  ...(drill.completedAtMs === null ? { state: "started" } : {})
})

/**
 * True while a met and attested drill of the agent itself counts for its tier.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Spec: decision 0048.
 */
export const hasAttestedDrill = ({ drillAttestedAtMs }: AgentDocument, nowMs: number): boolean =>
  drillAttestedAtMs !== undefined && drillAttestedAtMs >= nowMs - DRILL_AGE_MS

/**
 * True when an agent's own tier needs an attested drill and none counts. One at its end needs nothing. Spec: decision
 * 0048.
 */
export const isDrillOverdue = (agent: AgentDocument, nowMs: number): boolean =>
  agent.status !== "decommissioned" &&
  conditionsOf(agent.autonomyTier).includes("attested_drill") &&
  !hasAttestedDrill(agent, nowMs)

/** Why a drill cannot be attested; null where it can. */
export type AttestProblem = "not_completed" | "attested" | "nobody_acknowledged" | "too_old"

/**
 * Why a drill cannot be attested at a time. A drill that no instance acknowledged shows nothing about stopping. A drill
 * older than an attestation counts would be attested after it stopped counting. Spec: decision 0048.
 */
export const attestProblem = (
  { attestedAtMs, completedAtMs, result }: DrillDocument,
  nowMs: number
): AttestProblem | null =>
  completedAtMs === null || result === null
    ? "not_completed"
    : attestedAtMs !== null
      ? "attested"
      : result.acknowledged === 0
        ? "nobody_acknowledged"
        : completedAtMs < nowMs - DRILL_AGE_MS
          ? "too_old"
          : null
