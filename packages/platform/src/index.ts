/** The interface of `@flyball/platform`: the products of the platform API. Spec: document 2. */
import type { Capability } from "@flyball/core"
import { usage } from "./usage/module.ts"

/**
 * The platform API as one capability: pass it to `openGovernor({ capabilities: [platform()] })`, and `openHttp` serves
 * `/v1`. Spec: document 2; house section 2.
 */
export const platform = (): Capability => ({ name: "platform", modules: [usage] })
