/** Usage of agents within a range of the chain: sums that add up across ranges. Pure. */
import type { Json } from "../records/record.ts"
import type { Incident } from "./incidents.ts"
import { noReviews, type ReviewTotals } from "./review-times.ts"

/** Outcomes of evaluations, from the least restrictive on. */
export const countedOutcomes = ["allow", "allow_with_notice", "require_review", "deny", "halt"] as const

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

/** The sums of a stretch. */
export class UsageTotals {
  readonly #agents = new Map<string, AgentTotals>()
  readonly #ended: Array<Incident> = []

  /** `json`: what {@link toJson} gave. */
  static of(json: Json): UsageTotals {
    const totals = new UsageTotals()
    const { agents, ended } = json as unknown as Stored
    for (const [id, { decisions, evaluations, models, reviews }] of agents)
      totals.#agents.set(id, {
        decisions,
        evaluations: [...evaluations],
        models: new Map(models.map(([name, model]) => [name, { ...model, cost: BigInt(model.cost) }])),
        reviews: { ...reviews, decisionMs: [...reviews.decisionMs], waitMs: [...reviews.waitMs] }
      })
    totals.#ended.push(...ended)
    return totals
  }

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

  /** Adds the sums of the stretch that follows. */
  add(next: UsageTotals): void {
    for (const [id, more] of next.#agents) {
      const own = this.agent(id)
      own.decisions += more.decisions
      for (const [place, count] of more.evaluations.entries()) own.evaluations[place]! += count
      for (const [name, used] of more.models) addUsed(own.models, name, used)
      addReviews(own.reviews, more.reviews)
    }
    this.#ended.push(...next.#ended)
  }

  /** As plain data. */
  toJson(): Json {
    const agents = [...this.#agents].map(([id, { models, ...totals }]) => [
      id,
      { ...totals, models: [...models].map(([name, model]) => [name, { ...model, cost: String(model.cost) }]) }
    ])
    return { agents, ended: this.#ended } as unknown as Json
  }
}

interface Stored {
  readonly agents: ReadonlyArray<
    readonly [
      string,
      Omit<AgentTotals, "models"> & {
        readonly models: ReadonlyArray<readonly [string, Omit<ModelTotals, "cost"> & { readonly cost: string }]>
      }
    ]
  >
  readonly ended: ReadonlyArray<Incident>
}

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
