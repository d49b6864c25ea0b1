/** The interface of `@flyball/platform`: the products of the platform API. Spec: document 2. */
import { documents, fleet, gateway } from "@flyball/contract/http"
import { type Capability, notInstalled } from "@flyball/core"
import { events } from "./events/module.ts"
import { usage } from "./usage/module.ts"
import { webhooks } from "./webhooks/module.ts"

/**
 * The platform API as one capability: pass it to `openGovernor({ capabilities: [platform()] })`, and `openHttp` serves
 * `/v1`. A product that is not there yet answers 501, until another capability brings a module of its name. Spec:
 * document 2; house section 2.
 */
export const platform = (): Capability => ({
  name: "platform",
  modules: [
    usage,
    webhooks,
    events,
    notInstalled("gateway", gateway),
    notInstalled("documents", documents),
    notInstalled("fleet", fleet)
  ]
})
