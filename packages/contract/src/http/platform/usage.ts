/** The endpoints of usage and limits. Spec: document 2 sections 4 and 8. */
import { Schema } from "effect"
import { orgUnit } from "../../foundation/fields.ts"
import { CallerLimits, MonthUsage } from "../../platform/usage.ts"
import { platformAccess } from "../access.ts"
import { endpoint, json, queryOf } from "../endpoint.ts"

const access = platformAccess("usage:read")
const platform = { module: "usage" }

/** Endpoints of usage and limits. Spec: document 2 section 4, GET /usage; api.md "Document 2". */
export const usage = {
  read: endpoint({
    id: "usage.read",
    method: "GET",
    path: "/v1/usage",
    summary: "Reports what the caller's org unit used this month, and what its plan allows.",
    access,
    platform,
    query: queryOf(Schema.Struct({ org_unit: Schema.optionalKey(orgUnit) })),
    success: json(200, MonthUsage)
  }),
  limits: endpoint({
    id: "usage.limits",
    method: "GET",
    path: "/v1/limits",
    summary: "Reports the caller's rate limits and what is left of them.",
    access,
    platform,
    success: json(200, CallerLimits)
  })
} as const
