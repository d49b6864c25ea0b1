/** The interface of `@flyball/platform`: the products of the platform API. Spec: document 2. */
import { documents, fleet, gateway } from "@flyball/contract/http"
import { type Capability, notInstalled } from "@flyball/core"
import { events } from "./events/module.ts"
import { fairnessAnalyses } from "./fairness/module.ts"
import { monitoring } from "./monitoring/module.ts"
import { usage } from "./usage/module.ts"
import { webhooks } from "./webhooks/module.ts"
import { workflows } from "./workflows/module.ts"
import type { WorkflowOptions } from "./workflows/service.ts"

/** Options of the products. */
export interface PlatformOptions extends WorkflowOptions {}

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
    notInstalled("gateway", gateway),
    notInstalled("documents", documents),
    notInstalled("fleet", fleet)
  ]
})
