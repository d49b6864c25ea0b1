/** Look-up keys of plans of routes, and what is scrubbed of them. */
import type { JsonObject } from "../../storage/port.ts"
import { listKeys, sortable } from "../../storage/lists/keys.ts"
import type { Scrub } from "./scrub.ts"

/** Collection of plans of routes, under their ids. */
export const ROUTE_PLANS = "route_plans"

/** Collection of the places that the vehicles of dispatched plans pass, under the ids of the plans. */
export const ROUTE_COURSES = "route_courses"

/** The look-up keys of a plan: lists, and when it is due while it is not over. */
export const routePlanKeys = (id: string, body: JsonObject): { readonly [key: string]: string } => {
  const { createdAtMs, dueMs, owner, status } = body
  return {
    ...listKeys({ id, owner: String(owner), createdAtMs: Number(createdAtMs), filters: { status: String(status) } }),
    ...(typeof dueMs === "number" ? { due: sortable(dueMs) } : {})
  }
}

/** A plan without some of its members, and its vehicles without courses. */
const without = (erased: JsonObject): Scrub => ({
  collection: ROUTE_PLANS,
  idMember: "plan_id",
  restatedBy: ["route_plan.completed"],
  without: ({ body: before, collection, id, version }) => {
    const body = { ...before, ...erased }
    return { put: { collection, id, expectedVersion: version, body, keys: routePlanKeys(id, body) }, record: null }
  },
  beside: [
    {
      collection: ROUTE_COURSES,
      without: ({ body, collection, id, version }) => ({
        collection,
        id,
        expectedVersion: version,
        body: { ...body, courses: [] },
        keys: { until: sortable(0) }
      })
    }
  ]
})

/**
 * The scrubs by kind and part. Without the names of vehicles and jobs a plan has whole numbers. Places are beside the
 * names, and go with them. The names go with the
 * routes too: a problem that is larger than a part may be is no part, and nothing shows them any more.
 */
export const routeScrubs: { readonly [part: string]: Scrub } = {
  "route_plan.completed/plan": without({ names: null, plan: null }),
  "route_plan.completed/problem": without({ names: null })
}
