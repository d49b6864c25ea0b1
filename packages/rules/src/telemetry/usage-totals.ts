/** Usage of agents within a range of the chain: sums that add up across ranges. Pure. */
import { outcomes as countedOutcomes } from "@flyball/evidence/words"
import type { Slices } from "@flyball/evidence"
import type { Json } from "../records/record.ts"
import type { Incident } from "./incidents.ts"
import { noReviews, type ReviewTotals } from "./review-times.ts"

export { countedOutcomes }

/** Usage of one model by one agent. */
export interface ModelTotals {
  inputTokens: number
  outputTokens: number
  /** Tokens for which no price was in force. */
  unpricedTokens: number
  /** Sum of tokens times price. Unit: a millionth of a millionth of a US dollar. */
  cost: bigint
  /** Costs that the callers stated. Unit: millionths of a US dollar. */
  statedCost: number
}

/** Totals of one agent. */
export interface AgentTotals {
  decisions: number
  /** By the place in {@link countedOutcomes}. */
  readonly evaluations: Array<number>
  /** By the name that decisions give the model; empty where they name none. */
  readonly models: Map<string, ModelTotals>
  readonly reviews: ReviewTotals
}

/** Nothing yet. */
export const noTotals = (): AgentTotals => ({
  decisions: 0,
  evaluations: countedOutcomes.map(() => 0),
  models: new Map(),
  reviews: noReviews()
})

/** Sums of usage over a segment of the chain. Spec: decision 0051. */
export class UsageTotals {
  readonly #agents = new Map<string, AgentTotals>()
  readonly #ended: Array<Incident> = []

  /** The sums of one agent, to add to. */
  agent(id: string): AgentTotals {
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const none = noTotals()
    this.#agents.set(id, none)
    return none
  }

  /** Notes an incident that ended. */
  end(incident: Incident): void {
    this.#ended.push(incident)
  }

  /** By id. */
  agents(): ReadonlyArray<readonly [id: string, totals: AgentTotals]> {
    return [...this.#agents].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Incidents that ended in the stretch, in the order in which they did. */
  ended(): ReadonlyArray<Incident> {
    return this.#ended
  }

  /** Adds the sums of the stretch that follows. `json`: what {@link toJson} of it gave. In slices. */
  *addStored(json: Json): Slices<void> {
    const { agents, ended } = json as unknown as Stored
    for (const [index, rows] of agents.entries()) {
      if (index > 0) yield
      for (const row of JSON.parse(rows) as ReadonlyArray<StoredAgent>) this.#addRow(row)
    }
    for (const incident of ended) this.#ended.push(incident)
  }

  /** As plain data. */
  toJson(): Json {
    const rows = [...this.#agents].map(rowOf)
    const agents: Array<string> = []
    for (let from = 0; from < rows.length; from += ROWS_A_TEXT)
      agents.push(JSON.stringify(rows.slice(from, from + ROWS_A_TEXT)))
    return { agents, ended: this.#ended } as unknown as Json
  }

  #addRow([id, decisions, evaluations, models, reviews]: StoredAgent): void {
    const own = this.agent(id)
    own.decisions += decisions
    for (const [place, count] of evaluations.entries()) own.evaluations[place]! += count
    for (const [name, inputTokens, outputTokens, unpricedTokens, cost, statedCost] of models)
      addUsed(own.models, name, { inputTokens, outputTokens, unpricedTokens, cost: BigInt(cost), statedCost })
    if (reviews !== null) addReviews(own.reviews, reviewsOf(reviews))
  }
}

/** Agents of one text, which is about a millisecond's work. */
const ROWS_A_TEXT = 100

interface Stored {
  /** Rows of {@link ROWS_A_TEXT} agents each, as JSON in a text: a store reads a document at once, and a text later. */
  readonly agents: ReadonlyArray<string>
  readonly ended: ReadonlyArray<Incident>
}

/** Thousands of agents have a row in each of many segments: a row is short. */
type StoredAgent = readonly [
  id: string,
  decisions: number,
  /** Empty where all are 0. */
  evaluations: ReadonlyArray<number>,
  models: ReadonlyArray<
    readonly [name: string, inputTokens: number, outputTokens: number, unpriced: number, cost: string, stated: number]
  >,
  reviews: StoredReviews | null
]

type StoredReviews = readonly [
  counts: ReadonlyArray<number>,
  decisionMs: ReadonlyArray<number>,
  waitMs: ReadonlyArray<number>
]

/** The counts of reviews, in the order in which they are kept. */
const reviewCounts = [
  "opened",
  "approved",
  "rejected",
  "amended",
  "expired",
  "cancelled",
  "quickApprovals"
] as const satisfies ReadonlyArray<keyof ReviewTotals>

const rowOf = ([id, { decisions, evaluations, models, reviews }]: readonly [string, AgentTotals]): StoredAgent => [
  id,
  decisions,
  evaluations.some((count) => count > 0) ? evaluations : [],
  [...models].map(([name, { cost, inputTokens, outputTokens, statedCost, unpricedTokens }]) => [
    name,
    inputTokens,
    outputTokens,
    unpricedTokens,
    String(cost),
    statedCost
  ]),
  storedReviews(reviews)
]

const storedReviews = (reviews: ReviewTotals): StoredReviews | null => {
  const counts = reviewCounts.map((name) => reviews[name])
  const { decisionMs, waitMs } = reviews
  return counts.every((count) => count === 0) && decisionMs.length + waitMs.length === 0
    ? null
    : [counts, decisionMs, waitMs]
}

const reviewsOf = ([counts, decisionMs, waitMs]: StoredReviews): ReviewTotals => ({
  ...noReviews(),
  ...Object.fromEntries(reviewCounts.map((name, place) => [name, counts[place]!])),
  decisionMs: decisionMs as Array<number>,
  waitMs: waitMs as Array<number>
})

/** Adds what was used of a model. Numbers of callers are large where they are wrong: sums stay exact integers. */
export const addUsed = (models: Map<string, ModelTotals>, name: string, used: ModelTotals): void => {
  const known = models.get(name)
  if (known === undefined) {
    models.set(name, { ...used })
    return
  }
  known.inputTokens = bounded(known.inputTokens + used.inputTokens)
  known.outputTokens = bounded(known.outputTokens + used.outputTokens)
  known.unpricedTokens = bounded(known.unpricedTokens + used.unpricedTokens)
  known.statedCost = bounded(known.statedCost + used.statedCost)
  known.cost += used.cost
}

/** The largest integer that is exact, where a sum is larger. */
export const bounded = (sum: number): number => Math.min(Number.MAX_SAFE_INTEGER, sum)

/** Adds up what happened to reviews. */
export const addReviews = (own: ReviewTotals, more: ReviewTotals): void => {
  own.opened += more.opened
  own.approved += more.approved
  own.rejected += more.rejected
  own.amended += more.amended
  own.expired += more.expired
  own.cancelled += more.cancelled
  own.quickApprovals += more.quickApprovals
  for (const ms of more.decisionMs) own.decisionMs.push(ms)
  for (const ms of more.waitMs) own.waitMs.push(ms)
}
