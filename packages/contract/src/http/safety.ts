/** The endpoint of the safety view. Spec: document 1 section 4, GET /bound/safety. */
import { named } from "../foundation/plain.ts"
import { type SafetyInfo, SafetyOut, SafetyQuery } from "../safety.ts"
import { access } from "./access.ts"
import { endpoint, json, queryOf } from "./endpoint.ts"

/** Endpoint of the safety view. Spec: document 1 section 4, GET /bound/safety. */
export const safety = {
  view: endpoint({
    id: "bound.safety",
    method: "GET",
    path: "/api/v1/bound/safety",
    summary: "Lists each agent's kill state, breakers and drills, oldest agent first.",
    access: access.read,
    query: queryOf(SafetyQuery),
    success: json(200, named<SafetyInfo>()(SafetyOut))
  })
} as const
