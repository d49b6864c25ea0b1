/**
 * The interface of `@flyball/contract/http`: the table of endpoints, who may call them, the status of every refusal.
 */
import { accessMapping } from "./access-mapping.ts"
import { agents, provenance } from "./agents.ts"
import { envelopes, evaluations, waivers } from "./bound.ts"
import { behavior } from "./behavior.ts"
import { breakers } from "./breakers.ts"
import { chain } from "./chain.ts"
import { decisions } from "./decisions.ts"
import { drills } from "./drills.ts"
import type { AnyEndpoint } from "./endpoint.ts"
import { evals } from "./evals.ts"
import { evidence } from "./evidence.ts"
import { fairness } from "./fairness.ts"
import { ingestKeys } from "./ingest-keys.ts"
import { kill } from "./kill.ts"
import { mcp } from "./mcp.ts"
import { models } from "./models.ts"
import { platformKeys } from "./platform-keys.ts"
import { responsePolicy } from "./response-policy.ts"
import { reviews } from "./reviews.ts"
import { safety } from "./safety.ts"
import { standingApprovals } from "./standing-approvals.ts"
import { people, system } from "./system.ts"
import { telemetry } from "./telemetry.ts"
import { documentAgents } from "./platform/document-agents.ts"
import { documents } from "./platform/documents.ts"
import { fleet } from "./platform/fleet.ts"
import { gateway } from "./platform/gateway.ts"
import { monitoring } from "./platform/monitoring.ts"
import { tracking } from "./platform/tracking.ts"
import { usage } from "./platform/usage.ts"
import { platformEventRows, platformWebhooks } from "./platform/webhooks.ts"
import { fairnessAnalyses } from "./platform/fairness.ts"
import { workflows } from "./platform/workflows.ts"
import { webhooks } from "./webhooks.ts"

export {
  access,
  type AccessRow,
  type Caller,
  type Grant,
  type OrgUnits,
  platformAccess,
  refusalFor,
  refusalThere,
  unitsFor
} from "./access.ts"
export { BYTES_PER_TOKEN, inputEstimate, mostTokens } from "./platform/gateway.ts"
export {
  type AnyEndpoint,
  type Body,
  type BodyValue,
  endpoint,
  type Endpoint,
  EVENT_STREAM_MEDIA,
  type FileBody,
  type Form,
  generalRefusals,
  isRepeatable,
  type Group,
  json,
  jsonBody,
  passed,
  keepsAnswer,
  JSON_MEDIA,
  LINES_MEDIA,
  media,
  namesAgent,
  type Method,
  type Param,
  type Params,
  type ParamValues,
  type PlatformFacts,
  type Query,
  queryOf,
  type QueryValue,
  type QuotaRow,
  ReceivedFile,
  refusalsOf,
  type Success,
  versioned
} from "./endpoint.ts"
export { PACK_MEDIA } from "./evidence.ts"
export { refusalExamples } from "./examples.ts"
export { faultTags, internalError, type Problem, problemOf, problems } from "./problems.ts"
export {
  accessMapping,
  agents,
  behavior,
  breakers,
  chain,
  decisions,
  documentAgents,
  drills,
  envelopes,
  evals,
  evaluations,
  evidence,
  fairness,
  fairnessAnalyses,
  ingestKeys,
  kill,
  mcp,
  models,
  monitoring,
  people,
  platformEventRows,
  platformKeys,
  platformWebhooks,
  provenance,
  responsePolicy,
  reviews,
  safety,
  standingApprovals,
  system,
  telemetry,
  tracking,
  usage,
  waivers,
  webhooks,
  workflows
}

/** Products that somebody else may bring. Until then the platform API answers 501 for them. */
export { documents, fleet, gateway }
export { documentMedia } from "./platform/documents.ts"

/** Every endpoint, in the order of the pages. Spec: document 1 section 4; decision 0003. */
export const endpoints: ReadonlyArray<AnyEndpoint> = [
  system,
  people,
  agents,
  provenance,
  models,
  decisions,
  envelopes,
  waivers,
  evaluations,
  reviews,
  standingApprovals,
  responsePolicy,
  safety,
  telemetry,
  kill,
  breakers,
  drills,
  behavior,
  evals,
  mcp,
  fairness,
  chain,
  evidence,
  ingestKeys,
  platformKeys,
  accessMapping,
  webhooks
].flatMap((group) => Object.values(group))
