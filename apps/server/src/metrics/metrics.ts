/** The metrics of a server, and who may read them. */
import type { Storage } from "@flyball/core"
import { Effect } from "effect"
import type { ServerFacts } from "../http/call.ts"
import { chainFamilies } from "./chain.ts"
import { spanFamilies } from "../telemetry/families.ts"
import { Tracing } from "../telemetry/tracing.ts"
import { exposition } from "./exposition.ts"
import { processFamilies } from "./process.ts"

export { METRICS_MEDIA } from "./exposition.ts"
export { mayReadMetrics } from "./may-read.ts"

/** Everything that is measured, as text. */
export const metricsText = ({ counts, version }: ServerFacts): Effect.Effect<string, never, Storage> =>
  Effect.zipWith(chainFamilies, Tracing, (chain, tracing) =>
    exposition([...processFamilies(version), ...chain, ...counts.families(), ...spanFamilies(tracing)])
  )
