/** An engine that sends, and when what it sent arrived. */
import { deliveryEngine, type DeliveryEngineOptions } from "../delivery-engine.ts"
import { DAY_MS } from "./webhook-acts.ts"
import type { Outside } from "./webhook-world.ts"

/** The engine with so long a poll that only what it knows itself, and the listener, wakes it. */
export const running = (options: DeliveryEngineOptions = {}) => deliveryEngine({ pollMs: 7 * DAY_MS, ...options })

/** When requests to addresses that end so arrived. Unit: seconds since 1970 UTC. */
export const seconds = (there: Outside, path = "") =>
  there.arrived.filter(({ url }) => url.endsWith(path)).map(({ atMs }) => atMs / 1_000)
