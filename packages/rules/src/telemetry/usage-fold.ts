/**
 * Folds records into what agents used: tokens, cost, decisions, evaluations, reviews and incidents. Pure: the service
 * and the verifier both run it, so that the figures of one can be recomputed by the other. Spec: document 1 section 4,
 * GET /bound/telemetry/usage.
 */
import type { Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { incidentKinds, OpenIncidents } from "./incidents.ts"
import { ModelPrices, priceKinds } from "./model-prices.ts"
import { OpenReviews, reviewKinds } from "./review-times.ts"
import { addUsed, bounded, countedOutcomes, type UsageTotals } from "./usage-totals.ts"

const isPrice: ReadonlySet<string> = new Set(priceKinds)
const isIncident: ReadonlySet<string> = new Set(incidentKinds)
const isReview: ReadonlySet<string> = new Set(reviewKinds)

/** Kinds of records that the fold reads; no part of theirs. Spec: decision 0051. */
export const telemetryKinds: ReadonlyArray<string> = [
  ...priceKinds,
  ...incidentKinds,
  ...reviewKinds,
  "decision.settled",
  "decision.witnessed",
  "evaluation.made"
].toSorted()

/** Usage that a decision stated when it was witnessed. */
export type StatedUsage = JsonMap

/** Open incidents and reviews at one place of the chain, and the prices in force there. Spec: decision 0051. */
export class UsageState {
  readonly prices: ModelPrices
  readonly incidents: OpenIncidents
  readonly reviews: OpenReviews

  /** `json`: what {@link toJson} gave; left out at the start of a chain. */
  constructor(json?: Json) {
    const { incidents, prices, reviews } = (json ?? {}) as JsonMap
    this.prices = new ModelPrices(prices)
    this.incidents = new OpenIncidents(incidents)
    this.reviews = new OpenReviews(reviews)
  }

  /** As plain data. */
  toJson(): JsonMap {
    return {
      prices: this.prices.toJson(),
      incidents: this.incidents.toJson(),
      reviews: this.reviews.toJson()
    }
  }
}

/**
 * Takes one record of {@link telemetryKinds}: moves the state, and adds to the sums.
 *
 * - `decision`: the body of the decision that a `decision.settled` names; null where no record has it.
 * - Unit: `atMs`, milliseconds since 1970 UTC, when the record was sealed.
 * - Spec: decision 0051.
 */
export const foldUsage = (
  state: UsageState,
  totals: UsageTotals,
  record: Pick<ReplayRecord, "body" | "kind">,
  atMs: number,
  decision: StatedUsage | null = null
): void => {
  const { body, kind } = record
  if (kind === "decision.witnessed") {
    totals.agent(String(body["agent_id"])).decisions++
    addUsage(state, totals, body, null)
  } else if (kind === "decision.settled") addUsage(state, totals, body, decision)
  else if (kind === "evaluation.made") {
    const place = countedOutcomes.findIndex((outcome) => outcome === body["outcome"])
    if (place >= 0) totals.agent(String(body["agent_id"])).evaluations[place]!++
  } else if (isPrice.has(kind)) state.prices.take(record)
  else if (isReview.has(kind)) state.reviews.take(record, atMs, (agentId) => totals.agent(agentId).reviews)
  else if (isIncident.has(kind)) {
    const ended = state.incidents.take(record, atMs)
    if (ended !== null) totals.end(ended)
  }
}

/** A settlement counts by what it states beyond what its decision stated, so that nothing counts twice. */
const addUsage = (state: UsageState, totals: UsageTotals, body: JsonMap, decision: StatedUsage | null): void => {
  const usage = body["usage"]
  if (typeof usage !== "object" || usage === null) return
  const before = (decision?.["usage"] ?? {}) as JsonMap
  const more = (member: string): number => Math.max(0, countOf((usage as JsonMap)[member]) - countOf(before[member]))
  const [inputTokens, outputTokens, statedCost] = [
    more("input_tokens"),
    more("output_tokens"),
    more("cost_micro_usd")
  ] as const
  if (inputTokens + outputTokens + statedCost === 0) return
  const named = (decision ?? body)["model"]
  const model = typeof named === "string" ? named : ""
  const price = state.prices.of(model)
  addUsed(totals.agent(String(body["agent_id"])).models, model, {
    inputTokens,
    outputTokens,
    unpricedTokens: bounded((price.input === null ? inputTokens : 0) + (price.output === null ? outputTokens : 0)),
    cost: BigInt(inputTokens) * BigInt(price.input ?? 0) + BigInt(outputTokens) * BigInt(price.output ?? 0),
    statedCost
  })
}

const countOf = (value: Json | undefined): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0

/**
 * The decision that a settlement names, from its record; null where the record is no decision of the same agent. Both
 * arguments are bodies. Spec: decision 0051.
 */
export const settledDecision = (
  settlement: JsonMap,
  { body, kind }: Pick<ReplayRecord, "body" | "kind">
): StatedUsage | null => (kind === "decision.witnessed" && body["agent_id"] === settlement["agent_id"] ? body : null)

/**
 * Remembers what decisions stated that can still be settled. Memory: an entry for each that stated anything. Spec:
 * decision 0051.
 */
export class UnsettledDecisions {
  readonly #stated = new Map<number, StatedUsage>()

  /** Takes a record; answers the decision that a settlement names, where it stated anything. */
  take({ body, kind, seq }: Pick<ReplayRecord, "body" | "kind" | "seq">): StatedUsage | null {
    if (kind === "decision.witnessed") {
      const { agent_id: agentId = null, model, usage } = body
      if (model !== undefined || usage !== undefined)
        this.#stated.set(seq, {
          agent_id: agentId,
          ...(model === undefined ? {} : { model }),
          ...(usage === undefined ? {} : { usage })
        })
      return null
    }
    if (kind !== "decision.settled") return null
    const decision = Number(body["decision_seq"])
    const stated = this.#stated.get(decision)
    this.#stated.delete(decision)
    return stated === undefined ? null : settledDecision(body, { kind: "decision.witnessed", body: stated })
  }
}
