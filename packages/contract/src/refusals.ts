/**
 * Refusals: every expected no of the service, as values.
 *
 * Each class states its HTTP `status`, its sentence (`message`) and an `example` for the interface description. The
 * wire code of a refusal is its tag in snake_case. Members beside `detail` and `code` stand in `http/problems.ts`. To
 * add a refusal, write its class in the file of its subject in `refusals/`, which exports classes alone. Spec: style
 * section 5.
 */
import * as access from "./refusals/access.ts"
import * as agents from "./refusals/agents.ts"
import * as analyses from "./refusals/analyses.ts"
import * as breakers from "./refusals/breakers.ts"
import * as chain from "./refusals/chain.ts"
import * as decisions from "./refusals/decisions.ts"
import * as drills from "./refusals/drills.ts"
import * as envelopes from "./refusals/envelopes.ts"
import * as evaluations from "./refusals/evaluations.ts"
import * as executions from "./refusals/executions.ts"
import * as extractions from "./refusals/extractions.ts"
import * as gateway from "./refusals/gateway.ts"
import * as kill from "./refusals/kill.ts"
import * as mcp from "./refusals/mcp.ts"
import * as models from "./refusals/models.ts"
import * as monitoring from "./refusals/monitoring.ts"
import * as platform from "./refusals/platform.ts"
import * as requests from "./refusals/requests.ts"
import * as reviews from "./refusals/reviews.ts"
import * as routes from "./refusals/routes.ts"
import * as standingApprovals from "./refusals/standing-approvals.ts"
import * as system from "./refusals/system.ts"
import * as tracking from "./refusals/tracking.ts"
import * as webhooks from "./refusals/webhooks.ts"

export * from "./refusals/access.ts"
export * from "./refusals/agents.ts"
export * from "./refusals/analyses.ts"
export * from "./refusals/breakers.ts"
export * from "./refusals/chain.ts"
export * from "./refusals/decisions.ts"
export * from "./refusals/drills.ts"
export * from "./refusals/envelopes.ts"
export * from "./refusals/evaluations.ts"
export * from "./refusals/executions.ts"
export * from "./refusals/extractions.ts"
export * from "./refusals/gateway.ts"
export * from "./refusals/kill.ts"
export * from "./refusals/mcp.ts"
export * from "./refusals/models.ts"
export * from "./refusals/monitoring.ts"
export * from "./refusals/platform.ts"
export * from "./refusals/requests.ts"
export * from "./refusals/reviews.ts"
export * from "./refusals/routes.ts"
export * from "./refusals/standing-approvals.ts"
export * from "./refusals/system.ts"
export * from "./refusals/tracking.ts"
export * from "./refusals/webhooks.ts"

/** Every refusal by its tag. */
export const refusals = {
  ...access,
  ...agents,
  ...analyses,
  ...breakers,
  ...chain,
  ...decisions,
  ...drills,
  ...envelopes,
  ...evaluations,
  ...executions,
  ...extractions,
  ...gateway,
  ...kill,
  ...mcp,
  ...models,
  ...monitoring,
  ...platform,
  ...requests,
  ...reviews,
  ...routes,
  ...standingApprovals,
  ...system,
  ...tracking,
  ...webhooks
}

/** Every refusal. */
export type Refusal = InstanceType<(typeof refusals)[keyof typeof refusals]>

/** The tag of a refusal. */
export type RefusalTag = Refusal["_tag"]

/** The wire code of a tag: the same words in snake_case. */
export const codeOf = (tag: string): string =>
  tag.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? "" : "_") + letter.toLowerCase())
