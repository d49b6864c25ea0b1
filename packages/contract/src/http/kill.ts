/** The endpoints of the kill switch. Spec: document 1 section 4; api.md "bounded autonomy". */
import {
  KillAckIn,
  type KillAckInfo,
  KillAckOut,
  KillActivateIn,
  KillActivateQuery,
  type KillActivationInfo,
  KillActivation,
  type KillCertificateInfo,
  KillCertificate,
  type KillChangedInfo,
  KillChanged,
  type KillEventInfo,
  KillEvent,
  KillEventsQuery,
  KillReleaseIn,
  KillRequestIn,
  type KillRequestInfo,
  KillRequestOut,
  type KillStatusInfo,
  KillStatus,
  KillStatusQuery,
  KillStreamQuery
} from "../kill.ts"
import { Schema } from "effect"
import { named } from "../foundation/plain.ts"
import { access } from "./access.ts"
import { PACK_MEDIA } from "./evidence.ts"
import { ActivationNotFound } from "../refusals.ts"
import {
  endpoint,
  EVENT_STREAM_MEDIA,
  idParam,
  json,
  jsonBody,
  media,
  mediaOrJson,
  queryOf,
  tagged
} from "./endpoint.ts"

const AT = "/api/v1/bound/kill"

const Changed = named<KillChangedInfo>()(KillChanged)

/** Endpoints of the kill switch. Spec: document 1 section 4, `/bound/kill`; decision 0047. */
export const kill = {
  activate: endpoint({
    id: "kill.activate",
    method: "POST",
    path: `${AT}/activate`,
    summary:
      "Activates the kill switch for an agent, or for every agent that uses a model. A dry run lists the agents " +
      "reached.",
    access: access.operate,
    query: queryOf(KillActivateQuery),
    body: jsonBody(KillActivateIn),
    success: json(201, Changed),
    refusals: ["AgentNotFound", "ModelNotFound", "OrgUnitNotAllowed"]
  }),
  release: endpoint({
    id: "kill.release",
    method: "POST",
    path: `${AT}/release`,
    summary: "Releases one activation. A halt of an agent at L3 or above needs a person other than its activator.",
    access: access.operate,
    body: jsonBody(KillReleaseIn),
    success: json(200, Changed),
    refusals: ["ActivationNotFound", "ActivationReleased", "OrgUnitNotAllowed", "ReleaseNotAllowed"]
  }),
  activation: endpoint({
    id: "kill.activation",
    method: "GET",
    path: `${AT}/activations/{activation_id}`,
    summary: "Returns one activation, and which instances acknowledged it, stopped, or have not answered.",
    access: access.read,
    params: { activation_id: idParam("activation", () => new ActivationNotFound({})) },
    success: json(200, named<KillActivationInfo>()(KillActivation)),
    refusals: ["ActivationNotFound"]
  }),
  certificate: endpoint({
    id: "kill.certificate",
    method: "GET",
    path: `${AT}/activations/{activation_id}/certificate`,
    summary: "Returns the stop certificate of one activation: a range pack of its records, or a summary as JSON.",
    access: access.exportPacks,
    params: { activation_id: idParam("activation", () => new ActivationNotFound({})) },
    success: mediaOrJson(PACK_MEDIA, named<KillCertificateInfo>()(KillCertificate)),
    refusals: ["ActivationNotFound", "ActivationPutAside"]
  }),
  ack: endpoint({
    id: "kill.ack",
    method: "POST",
    path: `${AT}/ack`,
    summary: "Acknowledges an activation for one instance, or reports that it stopped. The first of each counts.",
    access: access.capture,
    body: jsonBody(KillAckIn),
    success: json(201, named<KillAckInfo>()(KillAckOut)),
    refusals: ["ActivationNotFound", "ActivationReleased"]
  }),
  request: endpoint({
    id: "kill.request",
    method: "POST",
    path: `${AT}/request`,
    summary: "Requests that an agent be stopped. The response policy decides; otherwise operators are notified.",
    access: access.capture,
    body: jsonBody(KillRequestIn),
    success: json(201, named<KillRequestInfo>()(KillRequestOut)),
    refusals: ["AgentNotFound"]
  }),
  events: endpoint({
    id: "kill.events",
    method: "GET",
    path: `${AT}/events`,
    summary: "Lists events of the kill switch, newest first. An empty page is the end.",
    access: access.read,
    query: queryOf(KillEventsQuery),
    success: json(200, Schema.Array(named<KillEventInfo>()(KillEvent))),
    admission: "large_page"
  }),
  status: endpoint({
    id: "kill.status",
    method: "GET",
    path: `${AT}/status`,
    summary: "Returns the kill state of an agent or a model. Supports conditional requests, for polling.",
    access: access.readOwn,
    query: queryOf(KillStatusQuery),
    success: tagged(named<KillStatusInfo>()(KillStatus)),
    refusals: ["AgentNotFound", "ModelNotFound"]
  }),
  stream: endpoint({
    id: "kill.stream",
    method: "GET",
    path: `${AT}/stream`,
    summary: "Streams the kill state as server-sent events: now, and at each change. An event's id is the epoch.",
    access: access.readOwn,
    query: queryOf(KillStreamQuery),
    success: media(EVENT_STREAM_MEDIA),
    refusals: ["AgentNotFound", "ModelNotFound"]
  })
} as const
