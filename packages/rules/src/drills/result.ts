/** Computes the result of a drill. Pure: the live service and the verifier both compute it. */
import type { AckDocument, ActivationDocument, KillInstance } from "../kill/document.ts"

/**
 * The result. Propagation is from the activation to the acknowledgement, both by the service's clock. Spec: format 1
 * section 8, `drill.completed`; decision 0048.
 */
export type DrillResult = {
  /** Instances that were expected, or acknowledged without being expected. */
  readonly expected: number
  readonly acknowledged: number
  /** Expected instances that never answered. */
  readonly missed: ReadonlyArray<KillInstance>
  /** Instances that were seen before and are in no list: whether they answered is not known. */
  readonly unlisted: number
  /** Nearest-rank percentiles and the longest. Unit: milliseconds. Null where nobody acknowledged. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly maxMs: number | null
  /** True when the hypothesis held: somebody acknowledged, nobody was missed or unlisted, and all were in time. */
  readonly met: boolean
}

/** An instance's acknowledgement of an activation. */
export type DrillAck = Pick<AckDocument, "acknowledgedAtMs" | "agentId" | "instanceId">

/** Members of an activation that describe its instances. Where these were not read, no hypothesis is met. */
export type Measured = Pick<ActivationDocument, "activatedAtMs" | "expectedInstances" | "unlisted">

/**
 * The result of a drill with this hypothesis, from its activation and what instances said of it. Spec: format 1 section
 * 8, `drill.completed`; decision 0048.
 */
export const drillResult = (
  { activatedAtMs, expectedInstances, unlisted }: Measured,
  acks: ReadonlyArray<DrillAck>,
  sloMs: number
): DrillResult => {
  const answered = new Set(acks.map(nameOf))
  const missed = (expectedInstances ?? [])
    .filter((one) => !answered.has(nameOf(one)))
    .map(({ agentId, instanceId }) => ({ agentId, instanceId }))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  // A clock that stepped back makes no propagation negative.
  const times = acks
    .map(({ acknowledgedAtMs }) => Math.max(0, acknowledgedAtMs - activatedAtMs))
    .toSorted((a, b) => a - b)
  const maxMs = times.at(-1) ?? null
  return {
    expected: acks.length + missed.length,
    acknowledged: acks.length,
    missed,
    unlisted,
    p50Ms: nearestRank(times, 50),
    p95Ms: nearestRank(times, 95),
    maxMs,
    met: expectedInstances !== null && maxMs !== null && maxMs <= sloMs && missed.length === 0 && unlisted === 0
  }
}

/** The value of ascending values at or below which so many percent of them lie; null of none. */
export const nearestRank = (ascending: ArrayLike<number>, percent: number): number | null =>
  ascending[Math.ceil((ascending.length * percent) / 100) - 1] ?? null

const nameOf = ({ agentId, instanceId }: KillInstance): string => `${agentId} ${instanceId}`
