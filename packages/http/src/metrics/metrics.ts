/** The metrics of a server as text. */
import { metricsNow, type Reviews, type Safety, type Storage } from "@flyball/core"
import { Effect } from "effect"
import type { ServerFacts } from "../request/call.ts"
import { chainFamilies } from "./chain.ts"
import { spanFamilies } from "./spans.ts"
import { Tracing } from "../telemetry/tracing.ts"
import { exposition } from "./exposition.ts"
import { processFamilies } from "./process.ts"
import { reviewFamilies } from "./reviews.ts"
import { safetyFamilies } from "./safety.ts"

export { METRICS_MEDIA } from "./exposition.ts"
export { mayReadMetrics } from "./may-read.ts"

/** Everything that is counted in the registry of this server, and what is read now from process and store. */
export const metricsText = ({ version }: ServerFacts): Effect.Effect<string, never, Reviews | Safety | Storage> =>
  Effect.gen(function* () {
    const ofProcess = processFamilies(version, yield* Effect.context<never>())
    const chain = yield* chainFamilies
    return exposition([
      ...ofProcess,
      ...chain,
      ...(yield* safetyFamilies),
      ...(yield* reviewFamilies),
      ...(yield* metricsNow),
      ...spanFamilies(yield* Tracing)
    ])
  })
