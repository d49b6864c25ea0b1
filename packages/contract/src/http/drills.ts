/** The endpoints of drills. Spec: api.md "bounded autonomy". */
import { Schema } from "effect"
import { DrillIn, DrillListQuery, DrillOut } from "../drills.ts"
import { DrillNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/kill/drills"
const drill = { drill_id: idParam("drill", () => new DrillNotFound({})) } as const

/** Drills. */
export const drills = {
  start: endpoint({
    id: "kill.start_drill",
    method: "POST",
    path: AT,
    summary: "Starts an exercise of the kill switch. A live one really halts, and releases itself.",
    access: access.operate,
    body: jsonBody(DrillIn),
    success: json(201, DrillOut),
    refusals: ["AgentNotFound", "InvalidTransition", "ModelNotFound", "OrgUnitNotAllowed"]
  }),
  list: endpoint({
    id: "kill.drills",
    method: "GET",
    path: AT,
    summary: "Drills, oldest first.",
    access: access.read,
    query: queryOf(DrillListQuery),
    success: json(200, Schema.Array(DrillOut))
  }),
  get: endpoint({
    id: "kill.drill",
    method: "GET",
    path: `${AT}/{drill_id}`,
    summary: "One drill, with what it measured.",
    access: access.read,
    params: drill,
    success: json(200, DrillOut),
    refusals: ["DrillNotFound"]
  }),
  complete: endpoint({
    id: "kill.complete_drill",
    method: "POST",
    path: `${AT}/{drill_id}/complete`,
    summary: "Ends a drill, releases what it still halts, and records what it measured.",
    access: access.operate,
    params: drill,
    success: json(200, DrillOut),
    refusals: ["DrillCompleted", "DrillNotFound"]
  }),
  attest: endpoint({
    id: "kill.attest_drill",
    method: "POST",
    path: `${AT}/{drill_id}/attest`,
    summary: "Vouches for the result of a drill that somebody else started. L4 needs one of the last 30 days.",
    access: access.govern,
    params: drill,
    success: json(200, DrillOut),
    refusals: ["DrillNotAttestable", "DrillNotFound", "SecondApproverRequired"]
  })
} as const
