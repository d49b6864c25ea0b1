/** Telemetry as a module. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
import { telemetry as rows } from "@flyball/contract/http"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { Telemetry } from "./service.ts"
import { telemetryClock } from "./telemetry-clock.ts"

const operations = {
  usage: ({ query }, { scope }) => Telemetry.use((telemetry) => telemetry.usage(query, scope))
} satisfies OperationsOf<typeof rows>

/** Usage of agents, and figures of reviews and incidents. Spec: decision 0051. */
export const telemetry: Module<
  "telemetry",
  typeof rows,
  typeof operations,
  typeof Telemetry.layer,
  typeof telemetryClock
> = defineModule({ name: "telemetry", rows, operations, layer: Telemetry.layer, jobs: [telemetryClock] })
