/** The interface of `@flyball/platform`: the products of the platform API. Spec: document 2. */
import { documents as documentRows, gateway as rows } from "@flyball/contract/http"
import { type Capability, notInstalled } from "@flyball/core"
import { documentAgents } from "./document-agents/module.ts"
import { type DocumentOptions, documents } from "./documents/module.ts"
import { events } from "./events/module.ts"
import { fairnessAnalyses } from "./fairness/module.ts"
import { fleetRoutes } from "./fleet/module.ts"
import { monitoring } from "./monitoring/module.ts"
import { gateway } from "./gateway/module.ts"
import type { GatewayOptions } from "./gateway/service.ts"
import { tracking } from "./tracking/module.ts"
import { usage } from "./usage/module.ts"
import { webhooks } from "./webhooks/module.ts"
import { workflows } from "./workflows/module.ts"
import type { WorkflowOptions } from "./workflows/service.ts"

export { isBaseUrl, readUpstreams, sealUpstream, type Upstream } from "./gateway/upstreams.ts"

/** Options of the products. */
export interface PlatformOptions extends WorkflowOptions {
  /** Upstreams of the gateway; without them it is not installed. */
  readonly gateway?: Omit<GatewayOptions, "usdInr">
  /** Options of documents; without them no document is read. */
  readonly documents?: DocumentOptions
}

/**
 * The platform API as one capability: pass it to `openGovernor({ capabilities: [platform()] })`, and `openHttp` serves
 * `/v1`. A product that is not there yet answers 501, until another capability brings a module of its name. Spec:
 * document 2; house section 2.
 */
export const platform = (options: PlatformOptions = {}): Capability => ({
  name: "platform",
  modules: [
    usage,
    webhooks,
    events,
    workflows(options),
    fairnessAnalyses,
    monitoring,
    tracking,
    options.gateway === undefined
      ? notInstalled("gateway", rows)
      : gateway({ ...options.gateway, ...(options.usdInr === undefined ? {} : { usdInr: options.usdInr }) }),
    options.documents === undefined ? notInstalled("documents", documentRows) : documents(options.documents),
    documentAgents,
    fleetRoutes
  ]
})
