/**
 * The catalogue of record kinds: every member of every body, every part, with type and bound.
 *
 * Replay and independent verifiers are written from it. Bodies hold ids, enums, integers, digests and names of tools;
 * what a person wrote
 * or a caller sent goes into a part. `SPEC.md` carries the same table, and a test compares the two. The rows are by
 * area in the files beside.
 *
 * Spec: format 1 section 1; design section 4.
 */
import { accessKinds } from "./access.ts"
import { agentKinds } from "./agents.ts"
import { analysisKinds } from "./analyses.ts"
import { trackingKinds } from "./tracking.ts"
import { extractionKinds } from "./extractions.ts"
import { breakerKinds } from "./breakers.ts"
import { chainKinds } from "./chain.ts"
import { decisionKinds } from "./decisions.ts"
import { driftKinds } from "./drift.ts"
import { drillKinds } from "./drills.ts"
import { evalKinds } from "./evals.ts"
import { executionKinds } from "./executions.ts"
import { envelopeKinds } from "./envelopes.ts"
import { fairnessKinds } from "./fairness.ts"
import { responsePolicyKinds } from "./response-policy.ts"
import { reviewKinds } from "./reviews.ts"
import { killKinds } from "./kill.ts"
import { mcpKinds } from "./mcp.ts"
import { monitoringKinds } from "./monitoring.ts"
import { routeKinds } from "./routes.ts"
import type { KindRow } from "./row.ts"
import { standingApprovalKinds } from "./standing-approvals.ts"
import { webhookKinds } from "./webhooks.ts"

/** Parts that one record can have: storage keys them by `seq * 32 + n`. */
export const MAX_PARTS = 32

/** The kinds that have a writer. Spec: format 1 section 8. */
export const recordKinds: ReadonlyArray<KindRow> = [
  ...chainKinds,
  ...agentKinds,
  ...decisionKinds,
  ...envelopeKinds,
  ...reviewKinds,
  ...responsePolicyKinds,
  ...killKinds,
  ...breakerKinds,
  ...drillKinds,
  ...driftKinds,
  ...standingApprovalKinds,
  ...evalKinds,
  ...mcpKinds,
  ...fairnessKinds,
  ...executionKinds,
  ...analysisKinds,
  ...extractionKinds,
  ...monitoringKinds,
  ...trackingKinds,
  ...routeKinds,
  ...accessKinds,
  ...webhookKinds
]

const rows: ReadonlyMap<string, KindRow> = new Map(recordKinds.map((row) => [row.kind, row]))

/** The row of a kind; null if it has no writer yet. Spec: format 1 section 8. */
export const kindRow = (kind: string): KindRow | null => rows.get(kind) ?? null

/** Every kind that writers of format 1 may use: a closed list that only grows. Spec: format 1 section 8. */
export const allRecordKinds: ReadonlyArray<string> = (
  "chain.genesis agent.registered agent.updated agent.activated agent.suspended agent.decommissioned " +
  "agent.owner_transferred agent.orphaned " +
  "agent.recertified agent.identity_attested agent.provenance_added model.registered model.updated " +
  "decision.witnessed decision.settled capture.gap instance.ended " +
  "evaluation.made envelope.drafted envelope.published envelope.withdrawn breaker.armed breaker.changed " +
  "breaker.tripped breaker.released " +
  "kill.requested kill.activated kill.expected kill.acknowledged kill.stopped kill.unconfirmed kill.released " +
  "drill.started drill.completed drill.attested review.opened " +
  "review.claimed review.resolved " +
  "review.expired review.consumed response_policy.changed mcp.manifest_seen mcp.manifest_changed mcp.pinned " +
  "finding.resolved drift.alarmed fairness.screened " +
  "eval.recorded ingest_key.minted ingest_key.revoked platform_key.minted " +
  "platform_key.revoked mapping.changed waiver.requested waiver.granted meter.voided " +
  "monitor.changed workflow.changed webhook.created webhook.changed webhook.revoked delivery.finished " +
  "part.erased key.rotated key.revoked " +
  "channel.checked chain.trimmed chain.sealed evidence.exported principal.seen analysis.completed " +
  "analysis.failed extraction.completed extraction.failed extraction.revealed alert.triggered alert.resolved " +
  "positions.recorded " +
  "execution.started execution.waiting execution.decided execution.finished " +
  "review.presented review.cancelled " +
  "route_plan.completed route_plan.failed route_plan.dispatched " +
  "standing_approval.proposed standing_approval.granted standing_approval.used standing_approval.revoked"
).split(" ")
