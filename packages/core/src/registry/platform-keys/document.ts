/** Reads platform keys out of documents, and writes them for the wire. */
import { type Plan, planLimits, type PlanLimits, type PlatformKeyOut, type PlatformScope } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import type { PlatformKeyDocument } from "@flyball/rules"
import { idAtMs } from "../../foundation/id-time.ts"
import { keyHint } from "../ingest-keys/document.ts"
import type { ReportedElsewhere } from "../keys/key-store.ts"
import { platformFamily } from "../keys/plan-revoke.ts"

/** Collection of the platform keys. */
export const PLATFORM_KEYS = platformFamily.collection

/** The limits of a key: its plan's, or its own where the plan is `custom`. */
export const limitsOf = ({ limits, plan }: Pick<PlatformKeyDocument, "limits" | "plan">): PlanLimits => {
  const ofPlan = planLimits[plan as Plan]
  return {
    requestsPerMinute: limits?.requestsPerMinute ?? ofPlan.requestsPerMinute,
    requestsPerDay: limits?.requestsPerDay ?? ofPlan.requestsPerDay,
    concurrent: limits?.concurrent ?? ofPlan.concurrent,
    concurrentRuns: limits?.concurrentRuns ?? ofPlan.concurrentRuns
  }
}

/** The key as the interface shows it: never the key itself. */
export const platformKeyOut = (id: string, key: PlatformKeyDocument, reported: ReportedElsewhere): PlatformKeyOut => {
  const limits = limitsOf(key)
  return {
    id,
    name: key.name,
    org_unit: key.orgUnit,
    hint: keyHint(key.digest),
    plan: key.plan as Plan,
    scopes: key.scopes as ReadonlyArray<PlatformScope>,
    agent_id: key.agentId,
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      requests_per_day: limits.requestsPerDay,
      concurrent: limits.concurrent,
      concurrent_runs: limits.concurrentRuns
    },
    created_by: key.createdBy,
    created_at: formatInstant(idAtMs(id)),
    last_used_at: instant(reported.lastUsedAtMs),
    expires_at: instant(key.expiresAtMs),
    revoked_at: instant(reported.revokedAtMs)
  }
}

const instant = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))
