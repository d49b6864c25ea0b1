/** The endpoints of the kill switch. Spec: document 1 section 4; api.md "bounded autonomy". */
import {
  KillAckIn,
  KillAckOut,
  KillActivateIn,
  KillActivateQuery,
  KillActivation,
  KillCertificate,
  KillChanged,
  KillEvent,
  KillEventsQuery,
  KillReleaseIn,
  KillRequestIn,
  KillRequestOut,
  KillStatus,
  KillStatusQuery,
  KillStreamQuery
} from "../kill.ts"
import { Schema } from "effect"
import { access } from "./access.ts"
import { PACK_MEDIA } from "./evidence.ts"
import { ActivationNotFound } from "../refusals.ts"
import { endpoint, EVENT_STREAM_MEDIA, idParam, json, jsonBody, media, mediaOrJson, queryOf } from "./endpoint.ts"

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
  certificate: endpoint({
    id: "kill.certificate",
    method: "GET",
    path: `${AT}/activations/{activation_id}/certificate`,
    summary: "The stop certificate: a range pack of the records of one activation, or its summary as JSON.",
    access: access.exportPacks,
    params: { activation_id: idParam("activation", () => new ActivationNotFound({})) },
    success: mediaOrJson(PACK_MEDIA, KillCertificate),
    refusals: ["ActivationNotFound", "ActivationPutAside"]
  }),
  ack: endpoint({
    id: "kill.ack",
    method: "POST",
    path: `${AT}/ack`,
    summary: "An instance saw an activation, or stopped. The first of each counts.",
    access: access.capture,
    body: jsonBody(KillAckIn),
    success: json(201, KillAckOut),
    refusals: ["ActivationNotFound", "ActivationReleased"]
  }),
  request: endpoint({
    id: "kill.request",
    method: "POST",
    path: `${AT}/request`,
    summary: "Asks that an agent be stopped. The response policy says whether it is; otherwise operators are notified.",
    access: access.capture,
    body: jsonBody(KillRequestIn),
    success: json(201, KillRequestOut),
    refusals: ["AgentNotFound"]
  }),
  events: endpoint({
    id: "kill.events",
    method: "GET",
    path: `${AT}/events`,
    summary: "The log of the kill switch, newest first. An empty page is the end.",
    access: access.read,
    query: queryOf(KillEventsQuery),
    success: json(200, Schema.Array(KillEvent))
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
  }),
  stream: endpoint({
    id: "kill.stream",
    method: "GET",
    path: `${AT}/stream`,
    summary: "The kill state as server-sent events: now, and with each change. The id of an event is the epoch.",
    access: access.readOwn,
    query: queryOf(KillStreamQuery),
    success: media(EVENT_STREAM_MEDIA),
    refusals: ["AgentNotFound", "ModelNotFound"]
  })
} as const
