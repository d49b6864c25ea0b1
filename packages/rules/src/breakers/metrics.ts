/** The metrics of breakers. To add one: its file in `metrics/`, and its line here. Spec: envelopes.md 3.9. */
import type { Metric, UnavailableMetric } from "./metric.ts"
import { actionVelocity } from "./metrics/action-velocity.ts"
import { chainVerification } from "./metrics/chain-verification.ts"
import { consecutiveFailures } from "./metrics/consecutive-failures.ts"
import { denialRate } from "./metrics/denial-rate.ts"
import { driftScore } from "./metrics/drift-score.ts"
import { effectMissingRate } from "./metrics/effect-missing-rate.ts"
import { errorRate } from "./metrics/error-rate.ts"
import { heartbeatMissing } from "./metrics/heartbeat-missing.ts"
import { killAckMissing } from "./metrics/kill-ack-missing.ts"
import { mcpManifestChanged } from "./metrics/mcp-manifest-changed.ts"
import { ownerOrphaned } from "./metrics/owner-orphaned.ts"
import { repeatAction } from "./metrics/repeat-action.ts"
import { reviewBacklog } from "./metrics/review-backlog.ts"
import { reviewOverturnRate } from "./metrics/review-overturn-rate.ts"
import { spend } from "./metrics/spend.ts"
import { spendBurn } from "./metrics/spend-burn.ts"
import { tokenBurn } from "./metrics/token-burn.ts"

/** Metrics that breakers can watch. Spec: format 1 section 10; decision 0044. */
export const breakerMetrics: ReadonlyArray<Metric> = [
  errorRate,
  denialRate,
  spend,
  spendBurn,
  tokenBurn,
  actionVelocity,
  repeatAction,
  consecutiveFailures,
  effectMissingRate,
  heartbeatMissing,
  killAckMissing,
  ownerOrphaned,
  reviewOverturnRate,
  reviewBacklog,
  driftScore,
  mcpManifestChanged,
  chainVerification
]

/** Metrics that have a name and no source yet. Spec: decision 0044. */
export const unavailableMetrics: ReadonlyArray<UnavailableMetric> = [
  {
    name: "confidence_floor",
    about: "The tenth percentile of a confidence signal.",
    lacks: "a signal that records show: signals of evaluations are erasable parts"
  },
  { name: "envelope_lag", about: "How long a client acted on an older version.", lacks: "decisions of client caches" }
]

const byName: ReadonlyMap<string, Metric> = new Map(breakerMetrics.map((metric) => [metric.name, metric]))

/** The metric with a name; null if breakers cannot watch it. Spec: format 1 section 10; decision 0044. */
export const metricOf = (name: string): Metric | null => byName.get(name) ?? null
