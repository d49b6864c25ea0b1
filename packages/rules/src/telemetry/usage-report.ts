/** The figures of a window as they are answered and as the verifier prints them. Pure. */
import { formatInstant, type Slices } from "@flyball/evidence"
import { nearestRank } from "../drills/result.ts"
import type { KillTargetType } from "../kill/response.ts"
import { containedAtMs, type Incident } from "./incidents.ts"
import { noReviews, type ReviewTotals } from "./review-times.ts"
import type { UsageState } from "./usage-fold.ts"
import { addReviews, type AgentTotals, bounded, countedOutcomes, noTotals, type UsageTotals } from "./usage-totals.ts"

/**
 * Usage of one model by an agent. Costs are millionths of a US dollar. Spec: document 1 section 4, GET
 * /bound/telemetry/usage; decision 0051.
 */
export interface ModelUsage {
  readonly model: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  /** Null where no token had a price. */
  readonly cost_micro_usd: number | null
  readonly unpriced_tokens: number
  readonly stated_cost_micro_usd: number
}

/** Reviews in figures. Times are milliseconds; null where there was none. Spec: decision 0051. */
export interface ReviewFigures {
  readonly opened: number
  readonly approved: number
  readonly rejected: number
  readonly amended: number
  readonly expired: number
  readonly cancelled: number
  readonly wait_ms: { readonly p50: number | null; readonly p95: number | null }
  readonly decision_ms: { readonly p50: number | null; readonly p95: number | null }
  readonly overturn_bp: number | null
  readonly approvals_under_5s: number
  readonly open: number
  readonly oldest_open_ms: number | null
}

/** One agent. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
export interface AgentUsage extends Omit<ModelUsage, "model"> {
  readonly agent_id: string
  readonly decisions: number
  readonly evaluations: { readonly [outcome in (typeof countedOutcomes)[number]]: number }
  readonly models: ReadonlyArray<ModelUsage>
  readonly reviews: ReviewFigures
}

/**
 * Incidents in figures. Times are milliseconds; null where no incident has one. Spec: document 1 section 4, GET
 * /bound/telemetry/usage; decision 0051.
 */
export interface IncidentFigures {
  readonly count: number
  readonly mttr_ms: number | null
  readonly median_ms: number | null
  readonly max_ms: number | null
  readonly mttd_ms: number | null
  readonly mttc_ms: number | null
  readonly open_incidents: ReadonlyArray<{
    readonly target_type: KillTargetType
    readonly target_id: string
    readonly activated_at: string
    readonly age_ms: number
  }>
}

/**
 * All figures of a window. `to` is exclusive. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051.
 */
export interface UsageReport {
  readonly from: string
  readonly to: string
  /** The last record before `to`; null where there is none. */
  readonly as_of_seq: number | null
  readonly agents: ReadonlyArray<AgentUsage>
  readonly reviews: ReviewFigures
  readonly incident: IncidentFigures
}

/** Inputs of a report. */
export interface UsageWindow {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly asOfSeq: number | null
  /** Sums of the records in the window. */
  readonly totals: UsageTotals
  /** State after its last record: open incidents and reviews, and prices. */
  readonly state: UsageState
  /** Which agents the reader may see. */
  readonly showsAgent: (agentId: string) => boolean
  /** Which targets of the kill switch the reader may see. */
  readonly showsTarget: (target: Pick<Incident, "targetId" | "targetType">) => boolean
  /** When a record was sealed, for the seqs of {@link onsetSeqs}; undefined where there is no such record. */
  readonly atMsOf: (seq: number) => number | undefined
}

/** Records whose times a report needs: where the window of a breaker that tripped began. Spec: decision 0051. */
export const onsetSeqs = ({ state, totals }: Pick<UsageWindow, "state" | "totals">): ReadonlyArray<number> =>
  [...totals.ended(), ...state.incidents.list()].flatMap(({ onsetSeq }) => (onsetSeq === null ? [] : [onsetSeq]))

/** Agents whose figures are computed between two turns of the event loop. */
const AGENTS_A_SLICE = 100

/**
 * The figures of a window. Agents without usage are left out; the others are sorted by id. Spec: document 1 section 4,
 * GET /bound/telemetry/usage; decision 0051.
 */
export function* usageReport(window: UsageWindow): Slices<UsageReport> {
  const { asOfSeq, fromMs, showsAgent, state, toMs, totals } = window
  const open = new Map<string, Array<number>>()
  for (const { agentId, openedAtMs } of state.reviews.list())
    if (showsAgent(agentId)) {
      const own = open.get(agentId)
      if (own === undefined) open.set(agentId, [toMs - openedAtMs])
      else own.push(toMs - openedAtMs)
    }
  const known = totals.agents().filter(([id]) => showsAgent(id))
  const counted = new Set(known.map(([id]) => id))
  // An agent whose reviews only wait has a row too.
  const waiting = [...open.keys()].filter((id) => !counted.has(id))
  const shown = [...known, ...waiting.map((id) => [id, noTotals()] as const)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const all = noReviews()
  for (const [, { reviews }] of shown) addReviews(all, reviews)
  yield
  const agents: Array<AgentUsage> = []
  for (const [id, agent] of shown) {
    agents.push(agentUsage(id, agent, open.get(id) ?? []))
    if (agents.length % AGENTS_A_SLICE === 0) yield
  }
  yield
  const reviews = reviewFigures(all, [...open.values()].flat())
  yield
  return {
    from: formatInstant(fromMs),
    to: formatInstant(toMs),
    as_of_seq: asOfSeq,
    agents,
    reviews,
    incident: incidentFigures(window)
  }
}

const agentUsage = (
  id: string,
  { decisions, evaluations, models, reviews }: AgentTotals,
  open: ReadonlyArray<number>
): AgentUsage => {
  const rows = [...models]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, { cost, inputTokens, outputTokens, statedCost, unpricedTokens }]): ModelUsage => ({
      model: model === "" ? null : model,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cost_micro_usd: cost === 0n && unpricedTokens > 0 ? null : rounded(cost),
      unpriced_tokens: unpricedTokens,
      stated_cost_micro_usd: statedCost
    }))
  const sum = (of: (row: ModelUsage) => number): number => rows.reduce((total, row) => bounded(total + of(row)), 0)
  return {
    agent_id: id,
    decisions,
    evaluations: Object.fromEntries(
      countedOutcomes.map((outcome, place) => [outcome, evaluations[place]!])
    ) as AgentUsage["evaluations"],
    input_tokens: sum((row) => row.input_tokens),
    output_tokens: sum((row) => row.output_tokens),
    cost_micro_usd: rows.every((row) => row.cost_micro_usd === null) ? null : sum((row) => row.cost_micro_usd ?? 0),
    unpriced_tokens: sum((row) => row.unpriced_tokens),
    stated_cost_micro_usd: sum((row) => row.stated_cost_micro_usd),
    models: rows,
    reviews: reviewFigures(reviews, open)
  }
}

/** Half of a millionth of a dollar and more is rounded up, once for each agent and model. */
const rounded = (cost: bigint): number => {
  const micro = (cost + 500_000n) / 1_000_000n
  return micro > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(micro)
}

const reviewFigures = (totals: ReviewTotals, open: ReadonlyArray<number>): ReviewFigures => {
  const { amended, approved, cancelled, decisionMs, expired, opened, quickApprovals, rejected, waitMs } = totals
  const ended = approved + rejected + amended
  return {
    opened,
    approved,
    rejected,
    amended,
    expired,
    cancelled,
    wait_ms: percentiles(waitMs),
    decision_ms: percentiles(decisionMs),
    overturn_bp: ended === 0 ? null : Math.floor((rejected * 10_000) / ended),
    approvals_under_5s: quickApprovals,
    open: open.length,
    oldest_open_ms: open.reduce<number | null>((oldest, ms) => Math.max(oldest ?? 0, ms), null)
  }
}

const percentiles = (times: ReadonlyArray<number>) => {
  const ascending = Float64Array.from(times).sort()
  return { p50: nearestRank(ascending, 50), p95: nearestRank(ascending, 95) }
}

/**
 * Means of whole milliseconds, rounded down. MTTR is of the incidents that were released in the window; MTTD and MTTC
 * of those that were activated in it. An open incident is never averaged.
 */
const incidentFigures = (window: UsageWindow): IncidentFigures => {
  const { fromMs, showsTarget, state, toMs, totals } = window
  const ended = totals.ended().filter(showsTarget)
  const open = state.incidents.list().filter(showsTarget)
  const begun = [...ended, ...open].filter(({ activatedAtMs }) => activatedAtMs >= fromMs)
  const repairs = ended
    .map(({ activatedAtMs, releasedAtMs }) => releasedAtMs! - activatedAtMs)
    .toSorted((a, b) => a - b)
  return {
    count: ended.length,
    mttr_ms: mean(repairs),
    median_ms: nearestRank(repairs, 50),
    max_ms: repairs.at(-1) ?? null,
    mttd_ms: mean(begun.flatMap((one) => differenceOf(onsetOf(one, window), one.activatedAtMs))),
    mttc_ms: mean(begun.flatMap((one) => differenceOf(one.activatedAtMs, containedAtMs(one, toMs)))),
    open_incidents: open
      .toSorted((a, b) => a.activatedAtMs - b.activatedAtMs)
      .map(({ activatedAtMs, targetId, targetType }) => ({
        target_type: targetType,
        target_id: targetId,
        activated_at: formatInstant(activatedAtMs),
        age_ms: toMs - activatedAtMs
      }))
  }
}

const onsetOf = ({ onsetAtMs, onsetSeq }: Incident, { atMsOf }: UsageWindow): number | null =>
  onsetAtMs ?? (onsetSeq === null ? null : (atMsOf(onsetSeq) ?? null))

const differenceOf = (beganMs: number | null, endedMs: number | null): ReadonlyArray<number> =>
  beganMs === null || endedMs === null ? [] : [Math.max(0, endedMs - beganMs)]

const mean = (times: ReadonlyArray<number>): number | null =>
  times.length === 0 ? null : Math.floor(times.reduce((sum, ms) => sum + ms, 0) / times.length)
