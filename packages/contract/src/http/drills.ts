/** The endpoints of drills. Spec: api.md "bounded autonomy". */
import { Schema } from "effect"
import { DrillIn, type DrillInfo, type DrillInput, DrillListQuery, DrillOut } from "../drills.ts"
import { named } from "../foundation/plain.ts"
import { DrillNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/kill/drills"
const drill = { drill_id: idParam("drill", () => new DrillNotFound({})) } as const

const Drill = named<DrillInfo>()(DrillOut)

/** Endpoints of drills. Spec: decision 0048. */
export const drills = {
  start: endpoint({
    id: "kill.start_drill",
    method: "POST",
    path: AT,
    summary: "Starts a drill of the kill switch. A live drill halts agents and releases them at its end.",
    access: access.operate,
    body: jsonBody(named<DrillInput>()(DrillIn)),
    success: json(201, Drill),
    refusals: ["AgentNotFound", "InvalidTransition", "ModelNotFound", "OrgUnitNotAllowed"]
  }),
  list: endpoint({
    id: "kill.drills",
    method: "GET",
    path: AT,
    summary: "Lists drills, oldest first.",
    access: access.read,
    query: queryOf(DrillListQuery),
    success: json(200, Schema.Array(Drill))
  }),
  get: endpoint({
    id: "kill.drill",
    method: "GET",
    path: `${AT}/{drill_id}`,
    summary: "Returns one drill with its measurements.",
    access: access.read,
    params: drill,
    success: json(200, Drill),
    refusals: ["DrillNotFound"]
  }),
  complete: endpoint({
    id: "kill.complete_drill",
    method: "POST",
    path: `${AT}/{drill_id}/complete`,
    summary: "Completes a drill, releases what it still halts, and records its measurements.",
    access: access.operate,
    params: drill,
    success: json(200, Drill),
    refusals: ["DrillCompleted", "DrillNotFound"]
  }),
  attest: endpoint({
    id: "kill.attest_drill",
    method: "POST",
    path: `${AT}/{drill_id}/attest`,
    summary: "Attests the result of a drill that another person started. Tier L4 needs one from the last 30 days.",
    access: access.govern,
    params: drill,
    success: json(200, Drill),
    refusals: ["DrillNotAttestable", "DrillNotFound", "SecondApproverRequired"]
  })
} as const
