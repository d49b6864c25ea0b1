/** What a governor does by itself, as time passes. */
import { Layer } from "effect"
import { agentClock } from "./agents/clock.ts"
import type { Agents } from "./agents/service.ts"
import { meterSweep } from "./evaluations/meter-sweep.ts"
import type { Storage } from "./storage/port.ts"
import { outboxSweep } from "./webhooks/outbox-sweep.ts"

/** All jobs, each under its own lease: run them in every process that stays. `openGovernor` and `flyball serve` do. */
export const governorJobs: Layer.Layer<never, never, Agents | Storage> = Layer.mergeAll(agentClock, outboxSweep, meterSweep)
