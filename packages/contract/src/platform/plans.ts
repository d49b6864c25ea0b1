/**
 * The plans, limits and quotas of the platform API as one table of data. Code, tests, `/v1/limits`, `_meta` and
 * `docs/platform-api.md` read it. Spec: document 2 section 8.
 */

import { plans } from "@flyball/evidence/words"

export { plans }
/** A plan of platform keys. */
export type Plan = (typeof plans)[number]

/** The limits of a plan. Null: none from the plan; a key of the plan `custom` may have its own. */
export interface PlanLimits {
  readonly requestsPerMinute: number | null
  readonly requestsPerDay: number | null
  readonly concurrent: number
  /** Workflow runs at once. */
  readonly concurrentRuns: number
}

/** Requests, and runs of workflows, by plan. Spec: document 2 section 8; api.md "Document 2". */
export const planLimits: { readonly [P in Plan]: PlanLimits } = {
  free: { requestsPerMinute: 20, requestsPerDay: 500, concurrent: 2, concurrentRuns: 10 },
  starter: { requestsPerMinute: 60, requestsPerDay: 5_000, concurrent: 5, concurrentRuns: 10 },
  growth: { requestsPerMinute: 600, requestsPerDay: 50_000, concurrent: 20, concurrentRuns: 50 },
  enterprise: { requestsPerMinute: 3_000, requestsPerDay: 500_000, concurrent: 100, concurrentRuns: 100 },
  // A bound of the server, so that every answer has one to say.
  custom: { requestsPerMinute: null, requestsPerDay: null, concurrent: 1_000, concurrentRuns: 1_000 }
}

/** Resources that a quota counts. */
export const quotaResources = ["documents", "tokens", "storage_gb", "monitors"] as const
export type QuotaResource = (typeof quotaResources)[number]
/** A resource whose count begins anew each month. */
export type MonthlyResource = "documents" | "tokens"

/** A quota. `soft`: more is admitted, and said as overage. Null limit: unlimited. */
export interface Quota {
  readonly limit: number | null
  readonly soft: boolean
  /** True when it begins anew each month; else it counts what is there. */
  readonly monthly: boolean
}

const hard = (limit: number | null, monthly: boolean): Quota => ({ limit, soft: false, monthly })
const soft = (limit: number, monthly: boolean): Quota => ({ limit, soft: true, monthly })

/** Quotas by plan. `free` is granted none. Spec: document 2 section 8; api.md "Document 2". */
export const planQuotas: { readonly [P in Plan]: { readonly [R in QuotaResource]: Quota } } = {
  free: {
    documents: hard(0, true),
    tokens: hard(0, true),
    storage_gb: hard(0, false),
    monitors: hard(0, false)
  },
  starter: {
    documents: hard(1_000, true),
    tokens: hard(1_000_000, true),
    storage_gb: hard(10, false),
    monitors: hard(5, false)
  },
  growth: {
    documents: hard(10_000, true),
    tokens: hard(10_000_000, true),
    storage_gb: hard(100, false),
    monitors: hard(25, false)
  },
  enterprise: {
    documents: soft(100_000, true),
    tokens: soft(100_000_000, true),
    storage_gb: soft(1_000, false),
    monitors: hard(null, false)
  },
  custom: {
    documents: hard(null, true),
    tokens: hard(null, true),
    storage_gb: hard(null, false),
    monitors: hard(null, false)
  }
}

/** A limit of one operation. Window in seconds, or the UTC day. */
export interface OperationLimit {
  readonly limit: number
  readonly window: number | "day"
  /** The body member whose values are limited one by one. */
  readonly per?: "model_id"
}

const MINUTE = 60
const HOUR = 3_600

/** Limits of operations, by area and operation. Null: the plan's alone. Spec: document 2 section 8. */
export const operationLimits = {
  "fairness.analyze": { limit: 100, window: HOUR, per: "model_id" },
  "fairness.explain": { limit: 1_000, window: HOUR },
  "fairness.generate_report": { limit: 20, window: HOUR },
  "monitoring.log_inference": { limit: 10_000, window: MINUTE },
  "monitoring.create_monitor": { limit: 100, window: "day" },
  "monitoring.get_alerts": { limit: 600, window: MINUTE },
  "documents.extract": { limit: 100, window: MINUTE },
  "documents.create_agent": { limit: 20, window: HOUR },
  "gateway.proxy": null,
  "workflows.create_workflow": { limit: 50, window: HOUR },
  "workflows.run_workflow": { limit: 500, window: HOUR },
  "fleet.optimize_routes": { limit: 100, window: HOUR },
  "fleet.track_fleet": { limit: 10_000, window: MINUTE }
} as const satisfies { readonly [operation: string]: OperationLimit | null }
export type OperationName = keyof typeof operationLimits

/** Bounds of one request. Spec: document 2 section 8. */
export const requestBounds = {
  /** Inferences a call. */
  inferences: 1_000,
  /** Bytes of a document. */
  documentBytes: 50 * 1_024 * 1_024,
  /** Bytes of a document within a JSON body. */
  inlineDocumentBytes: 16 * 1_024 * 1_024,
  /** Positions a call. */
  positions: 1_000,
  /** Webhooks of an org unit, revoked ones apart. */
  webhooks: 100,
  /** Vehicles a request. */
  vehicles: 1_000
} as const

/** Requests without a key, a minute, from one address: what a 401 says. */
export const ANONYMOUS_PER_MINUTE = 20

/** How long an idempotency key is honoured. Unit: milliseconds. Spec: document 2 section 8. */
export const IDEMPOTENCY_MS = 24 * HOUR * 1_000
