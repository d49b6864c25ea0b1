/** Plans the end of a plan of routes: its document, its record, and the event. Pure. Spec: document 2 section 6. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { platformEvent } from "@flyball/core"
import type { ChangeSet, JsonObject } from "@flyball/core/storage"
import { planBytes, type Solved, totalsOf } from "@flyball/rules"
import { failureText, putPlan, type RoutePlanFailure, type StoredPlan, stopsOf } from "./document.ts"

/** The end of a plan. */
export interface End {
  readonly stored: StoredPlan
  readonly change: ChangeSet
}

/** Decides what routes leave that were found. `bytes`: of the problem; `isStopped`: somebody cancelled the search. */
export const planEnd = (
  { body: before, id, version }: StoredPlan,
  { fault, plan, trace }: Solved,
  of: {
    readonly bytes: Uint8Array
    readonly planDigest: string
    readonly isStopped: boolean
    readonly nowMs: number
  }
): End => {
  if (fault !== null) return planFailed({ body: before, id, version }, "not_valid", before.writer, of.nowMs)
  const { digest, jobs, orgUnit, source, vehicles, writer } = before
  const status = of.isStopped ? "cancelled" : "completed"
  const found = { plan, planDigest: of.planDigest, trace, completedAtMs: of.nowMs, dueMs: null }
  const stored: StoredPlan = { id, version, body: { ...before, ...found, status } }
  const body = {
    ...totalsOf(plan),
    distance_source: source,
    iterations: trace.iterations,
    jobs,
    plan_digest: of.planDigest,
    plan_id: id,
    problem_digest: digest,
    schedule: trace.schedule,
    seed: trace.seed,
    vehicles,
    writer
  } as unknown as JsonObject
  const parts = [
    { name: "plan", bytes: planBytes(plan) },
    ...(of.bytes.length > PART_LIMIT_BYTES ? [] : [{ name: "problem", bytes: of.bytes }])
  ]
  const event = platformEvent("routes.completed", orgUnit, {
    id,
    vehicles: plan.routes.length,
    stops: stopsOf(plan),
    unassigned: plan.unassigned.length,
    metres: plan.metres,
    driving_seconds: plan.driving,
    distance_source: source
  })
  return {
    stored,
    change: {
      puts: [putPlan(stored)],
      records: [{ kind: "route_plan.completed", agentId: null, body, parts }],
      events: [event]
    }
  }
}

/** Decides what a plan leaves that ended without routes. No part of its record has its names, so they go. */
export const planFailed = (
  { body: before, id, version }: StoredPlan,
  code: RoutePlanFailure,
  writer: string,
  nowMs: number
): End => {
  const status = code === "cancelled" ? "cancelled" : "failed"
  const stored: StoredPlan = {
    id,
    version,
    body: { ...before, status, names: null, failure: code, completedAtMs: nowMs, dueMs: null }
  }
  const body = { code, plan_id: id, problem_digest: before.digest, writer }
  const error = { code, message: failureText[code] }
  return {
    stored,
    change: {
      puts: [putPlan(stored)],
      records: [{ kind: "route_plan.failed", agentId: null, body, parts: [] }],
      events: [platformEvent("routes.failed", before.orgUnit, { id, error })]
    }
  }
}
