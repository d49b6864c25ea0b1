/** The endpoints of circuit breakers. Spec: document 1 section 4; api.md "bounded autonomy". */
import { Schema } from "effect"
import {
  Breaker,
  type BreakerChange,
  BreakerCheckOut,
  BreakerCreate,
  type BreakerInfo,
  type BreakerInput,
  BreakerPreviewIn,
  type BreakerPreviewInfo,
  BreakerPreviewOut,
  type BreakerReading,
  type BreakerRelease,
  BreakerReleaseIn,
  type BreakerTrial,
  BreakerUpdate
} from "../breakers.ts"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { AgentNotFound, BreakerNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

const agent = { agent_id: idParam("agent", () => new AgentNotFound({})) } as const
const breaker = { breaker_id: idParam("breaker", () => new BreakerNotFound({})) } as const
const OF_AGENT = "/api/v1/bound/agents/{agent_id}/breakers"
const ONE = "/api/v1/bound/breakers/{breaker_id}"

const One = named<BreakerInfo>()(Breaker)

/** Endpoints of circuit breakers. Spec: document 1 section 4, `/bound/breakers`; decision 0044. */
export const breakers = {
  arm: endpoint({
    id: "breakers.arm",
    method: "POST",
    path: OF_AGENT,
    summary: "Creates and arms a breaker that watches one metric of an agent.",
    access: access.operate,
    params: agent,
    body: jsonBody(named<BreakerInput>()(BreakerCreate)),
    success: json(201, One),
    refusals: ["AgentNotFound", "BreakerNameTaken", "InvalidTransition", "MetricNotAvailable"]
  }),
  list: endpoint({
    id: "breakers.list",
    method: "GET",
    path: OF_AGENT,
    summary: "Lists an agent's breakers, oldest first.",
    access: access.read,
    params: agent,
    query: queryOf(pageQuery("breaker")),
    success: json(200, Schema.Array(One)),
    refusals: ["AgentNotFound"]
  }),
  preview: endpoint({
    id: "breakers.preview",
    method: "POST",
    path: `${OF_AGENT}/preview`,
    summary: "Computes when a breaker would have tripped over the agent's recorded history. Records nothing.",
    access: access.read,
    params: agent,
    body: jsonBody(named<BreakerTrial>()(BreakerPreviewIn)),
    success: json(200, named<BreakerPreviewInfo>()(BreakerPreviewOut)),
    admission: "costly_read",
    refusals: ["AgentNotFound", "MetricNotAvailable"]
  }),
  get: endpoint({
    id: "breakers.get",
    method: "GET",
    path: ONE,
    summary: "Returns one breaker.",
    access: access.read,
    params: breaker,
    success: json(200, One),
    refusals: ["BreakerNotFound"]
  }),
  update: endpoint({
    id: "breakers.update",
    method: "PATCH",
    path: ONE,
    summary: "Updates a breaker. Its window restarts; a tripped breaker stays tripped.",
    access: access.operate,
    params: breaker,
    body: jsonBody(named<BreakerChange>()(BreakerUpdate)),
    success: json(200, One),
    refusals: ["BreakerNotFound"]
  }),
  release: endpoint({
    id: "breakers.release",
    method: "POST",
    path: `${ONE}/release`,
    summary: "Re-arms a tripped breaker with an empty window. The kill activation of its trip stays active.",
    access: access.operate,
    params: breaker,
    body: optionalBody(named<BreakerRelease>()(BreakerReleaseIn)),
    success: json(200, One),
    refusals: ["BreakerNotFound", "BreakerNotTripped"]
  }),
  check: endpoint({
    id: "breakers.check",
    method: "POST",
    path: "/api/v1/bound/breakers/check",
    summary: "Checks every enabled breaker now. A breaker that trips runs its response.",
    access: access.operate,
    success: json(200, Schema.Array(named<BreakerReading>()(BreakerCheckOut)))
  })
} as const
