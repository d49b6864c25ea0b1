/** The endpoints of fairness screens. Spec: document 1 section 4, `/fairness/screens`; decision 0074. */
import { Schema } from "effect"
import {
  FairnessScreen,
  FairnessScreenIn,
  type FairnessScreenInfo,
  type FairnessScreenInput,
  FairnessScreensQuery
} from "../fairness.ts"
import { named } from "../foundation/plain.ts"
import { access } from "./access.ts"
import { endpoint, json, jsonBody, queryOf } from "./endpoint.ts"

const Screen = named<FairnessScreenInfo>()(FairnessScreen)

/** Endpoints of fairness screens. Spec: document 1 section 4, `/fairness/screens`; decision 0074. */
export const fairness = {
  list: endpoint({
    id: "fairness.list",
    method: "GET",
    path: "/api/v1/fairness/screens",
    summary: "Lists fairness screens, newest first.",
    access: access.read,
    query: queryOf(FairnessScreensQuery),
    success: json(200, Schema.Array(Screen)),
    refusals: ["AgentNotFound"]
  }),
  screen: endpoint({
    id: "fairness.screen",
    method: "POST",
    path: "/api/v1/fairness/screens",
    summary: "Compares the rates of positive outcomes between groups of decisions, and records the result.",
    access: access.govern,
    body: jsonBody(named<FairnessScreenInput>()(FairnessScreenIn)),
    success: json(201, Screen),
    admission: "costly_read",
    refusals: ["AgentNotFound", "OrgUnitNotAllowed"]
  })
} as const
