/** All handlers by the id of their endpoint. */
import {
  accessMapping,
  agents,
  bound,
  breakers,
  chain,
  decisions,
  drills,
  evidence,
  ingestKeys,
  kill,
  models,
  responsePolicy,
  reviews,
  safety,
  standingApprovals,
  system,
  telemetry,
  webhooks
} from "@flyball/contract/http"
import type { AnyHandler, HandlersOf } from "../request/call.ts"
import { accessMappingHandlers } from "./access-mapping.ts"
import { agentsHandlers } from "./agents.ts"
import { boundHandlers } from "./bound.ts"
import { breakersHandlers } from "./breakers.ts"
import { chainHandlers } from "./chain.ts"
import { decisionsHandlers } from "./decisions.ts"
import { drillsHandlers } from "./drills.ts"
import { evidenceHandlers } from "./evidence.ts"
import { ingestKeysHandlers } from "./ingest-keys.ts"
import { killHandlers } from "./kill.ts"
import { modelsHandlers } from "./models.ts"
import { pages } from "../answer/pages.ts"
import { pagesHandlers } from "./pages.ts"
import { responsePolicyHandlers } from "./response-policy.ts"
import { reviewsHandlers } from "./reviews.ts"
import { safetyHandlers } from "./safety.ts"
import { standingApprovalsHandlers } from "./standing-approvals.ts"
import { systemHandlers } from "./system.ts"
import { telemetryHandlers } from "./telemetry.ts"
import { webhooksHandlers } from "./webhooks.ts"

const byId = <Group extends { readonly [name: string]: { readonly id: string } }>(
  group: Group,
  handlers: HandlersOf<Group>
): ReadonlyArray<readonly [string, AnyHandler]> =>
  Object.keys(group).map((name) => [group[name]!.id, handlers[name] as unknown as AnyHandler])

/** The handlers. Spec: document 1 section 4. */
export const handlers: { readonly [id: string]: AnyHandler } = Object.fromEntries([
  ...byId(system, systemHandlers),
  ...byId(agents, agentsHandlers),
  ...byId(models, modelsHandlers),
  ...byId(decisions, decisionsHandlers),
  ...byId(bound, boundHandlers),
  ...byId(breakers, breakersHandlers),
  ...byId(reviews, reviewsHandlers),
  ...byId(responsePolicy, responsePolicyHandlers),
  ...byId(kill, killHandlers),
  ...byId(drills, drillsHandlers),
  ...byId(safety, safetyHandlers),
  ...byId(standingApprovals, standingApprovalsHandlers),
  ...byId(telemetry, telemetryHandlers),
  ...byId(chain, chainHandlers),
  ...byId(evidence, evidenceHandlers),
  ...byId(ingestKeys, ingestKeysHandlers),
  ...byId(accessMapping, accessMappingHandlers),
  ...byId(webhooks, webhooksHandlers),
  ...byId(pages, pagesHandlers)
])
