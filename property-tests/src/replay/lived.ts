/** Types of a random life of a governor, and the counts that are kept of it. */
import type { GovernorServices } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import type { Effect } from "effect"
import type { Lived as Governed } from "../evaluations/governed-history.ts"

/** Counts of a life, kept by the history itself to compare with what replay counts. */
export interface Lived {
  readonly agentIds: Array<string>
  readonly decisionIds: Array<string>
  readonly keyIds: Array<string>
  readonly platformKeyIds: Array<string>
  readonly modelIds: Array<string>
  readonly webhookIds: Array<string>
  /** The webhooks of the org unit ops. */
  readonly unitWebhookIds: Set<string>
  /** Webhooks that failed seven times. */
  readonly givenUp: Set<string>
  /** Agents with envelopes, and their evaluations. */
  readonly governed: Governed
  /** Activations of the kill switch, and an agent that each was meant for. */
  readonly activations: Array<{ readonly id: string; readonly agentId: string }>
  readonly witnessed: Map<string, number>
  readonly settled: Map<string, number>
  /** Erasures that were done. */
  erased: number
  /** How often each refusal was the answer. */
  readonly refusals: Map<string, number>
}

/** Nothing yet. */
export const nothingLived = (): Lived => ({
  agentIds: [],
  decisionIds: [],
  keyIds: [],
  platformKeyIds: [],
  modelIds: [],
  webhookIds: [],
  unitWebhookIds: new Set(),
  givenUp: new Set(),
  governed: { agents: [], evaluationIds: [], verdicts: new Map() },
  activations: [],
  witnessed: new Map(),
  settled: new Map(),
  erased: 0,
  refusals: new Map()
})

/** Effect of an act. Whatever it fails with is a refusal or a fault. */
export type Doing = Effect.Effect<unknown, unknown, GovernorServices | Storage>

/** One of these; undefined when there is none. */
export const chosen = <A>(from: ReadonlyArray<A>, choice: number): A | undefined =>
  from[choice % Math.max(1, from.length)]
