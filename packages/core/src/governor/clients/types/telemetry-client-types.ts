/** Telemetry as a host without Effect sees it. */
import type { TelemetryOut, TelemetryQuery } from "@flyball/contract"
import type { CallOptions } from "../call-options.ts"
import type { Filter, Info } from "../plain.ts"

/** Usage of agents in a window. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
export interface TelemetryInfo extends Info<typeof TelemetryOut> {}

/**
 * Usage and cost of agents, and figures of reviews and incidents, in a window. Spec: document 1 section 4, GET
 * /bound/telemetry/usage; decision 0051.
 */
export interface TelemetryClient {
  /**
   * Tokens, cost, decisions, evaluations and reviews of each agent, and incidents. `from` is 30 days before `to` and
   * `to` is now where they are left out. Fails with `telemetry_behind` while a long chain is summed up at first.
   */
  usage(window?: Filter<typeof TelemetryQuery>, options?: CallOptions): Promise<TelemetryInfo>
}
