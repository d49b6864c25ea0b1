/** The endpoints of the kill switch. Spec: document 1 section 4; api.md "bounded autonomy". */
import {
  KillActivateIn,
  KillActivateQuery,
  KillActivation,
  KillChanged,
  KillReleaseIn,
  KillStatus,
  KillStatusQuery
} from "../kill.ts"
import { access } from "./access.ts"
import { ActivationNotFound } from "../refusals.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/kill"

/** The kill switch. */
export const kill = {
  activate: endpoint({
    id: "kill.activate",
    method: "POST",
    path: `${AT}/activate`,
    summary: "Stops an agent, or every agent that uses a model. A dry run answers whom it would reach.",
    access: access.operate,
    query: queryOf(KillActivateQuery),
    body: jsonBody(KillActivateIn),
    success: json(201, KillChanged),
    refusals: ["AgentNotFound", "ModelNotFound", "OrgUnitNotAllowed"]
  }),
  release: endpoint({
    id: "kill.release",
    method: "POST",
    path: `${AT}/release`,
    summary: "Releases one activation. A real halt of an agent at L3 or above needs somebody else than its activator.",
    access: access.operate,
    body: jsonBody(KillReleaseIn),
    success: json(200, KillChanged),
    refusals: ["ActivationNotFound", "ActivationReleased", "OrgUnitNotAllowed", "ReleaseNotAllowed"]
  }),
  activation: endpoint({
    id: "kill.activation",
    method: "GET",
    path: `${AT}/activations/{activation_id}`,
    summary: "One activation, and which instances acknowledged it, stopped, or are silent.",
    access: access.read,
    params: { activation_id: idParam("activation", () => new ActivationNotFound({})) },
    success: json(200, KillActivation),
    refusals: ["ActivationNotFound"]
  }),
  status: endpoint({
    id: "kill.status",
    method: "GET",
    path: `${AT}/status`,
    summary: "The kill state of an agent or a model: cheap, cacheable, for polling.",
    access: access.readOwn,
    query: queryOf(KillStatusQuery),
    success: json(200, KillStatus),
    refusals: ["AgentNotFound", "ModelNotFound"]
  })
} as const
