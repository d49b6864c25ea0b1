/** Circuit breakers in the embedding API, derived from the contract. */
import type {
  Breaker,
  BreakerCheckOut,
  BreakerCreate,
  breakerModes,
  BreakerPreviewIn,
  BreakerPreviewOut,
  BreakerReleaseIn,
  killResponses,
  breakerStates,
  BreakerUpdate
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Info, Input } from "@flyball/contract"

/** Mode of a breaker: the effect of a trip. */
export type BreakerModeName = (typeof breakerModes)[number]

/** Response that a breaker requests when it trips, weakest first. */
export type BreakerResponseName = (typeof killResponses)[number]

/** Whether a breaker watches, or waits to be released. */
export type BreakerState = (typeof breakerStates)[number]

/** A breaker to be armed. Metrics and parameters: docs/breakers.md. */
export interface BreakerInput extends Input<typeof BreakerCreate> {}

/** Change of a breaker. A member left out keeps its value; `params` are replaced as a whole. */
export interface BreakerChange extends Input<typeof BreakerUpdate> {}

/** Why a breaker is released. */
export interface BreakerRelease extends Input<typeof BreakerReleaseIn> {}

/** A breaker to preview. */
export interface BreakerTrial extends Input<typeof BreakerPreviewIn> {}

/** A breaker. Spec: document 1 section 2, "Circuit breaker record"; decision 0044. */
export interface BreakerInfo extends Info<typeof Breaker> {}

/** One reading of a check. */
export interface BreakerReading extends Info<typeof BreakerCheckOut> {}

/** Result of a preview: the trips that a breaker would have had. */
export interface BreakerPreviewInfo extends Info<typeof BreakerPreviewOut> {}

/**
 * Circuit breakers: limits on a metric of an agent that stop the agent when they are reached. Spec: document 1 section
 * 4, `/bound/breakers`; decision 0044.
 */
export interface BreakersClient {
  /** Arms a breaker; its window begins now. */
  arm(agentId: string, breaker: BreakerInput, options?: ActOptions): Promise<BreakerInfo>
  /** Changes a breaker; its window restarts. */
  update(breakerId: string, change: BreakerChange, options?: ActOptions): Promise<BreakerInfo>
  /** Arms a tripped breaker again. What it activated stays active. */
  release(breakerId: string, why?: BreakerRelease, options?: ActOptions): Promise<BreakerInfo>
  /** Oldest first. */
  list(agentId: string, options?: CallOptions): Promise<ReadonlyArray<BreakerInfo>>
  /** Reads every enabled breaker now; what is due trips. */
  check(options?: CallOptions): Promise<ReadonlyArray<BreakerReading>>
  /** When a breaker would have tripped over the agent's records. Records nothing. */
  preview(agentId: string, trial: BreakerTrial, options?: CallOptions): Promise<BreakerPreviewInfo>
}
