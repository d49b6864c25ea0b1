/** The metrics of a server, and who may read them. */
import type { Storage } from "@flyball/core"
import { Effect } from "effect"
import type { ServerFacts } from "../http/call.ts"
import { chainFamilies } from "./chain.ts"
import { exposition } from "./exposition.ts"
import { processFamilies } from "./process.ts"

export { METRICS_MEDIA } from "./exposition.ts"
export { mayReadMetrics } from "./may-read.ts"

/** Everything that is measured, as text. */
export const metricsText = ({ counts, version }: ServerFacts): Effect.Effect<string, never, Storage> =>
  Effect.map(chainFamilies, (chain) => exposition([...processFamilies(version), ...chain, ...counts.families()]))
