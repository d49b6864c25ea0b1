/** Drills and the safety view in the embedding API, derived from the contract. */
import type { DrillIn, DrillListQuery, DrillOut, SafetyOut, SafetyQuery } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "../plain.ts"

/** Request for a drill: what to exercise. */
export interface DrillInput extends Input<typeof DrillIn> {}

/** A drill. `result` is null until it is completed. */
export interface DrillInfo extends Info<typeof DrillOut> {}

/** Drills: exercises of the kill switch. */
export interface DrillsClient {
  /** Activates a halt as an exercise. A `live` one really halts, and releases itself after `max_duration_ms`. */
  start(drill: DrillInput, options?: ActOptions): Promise<DrillInfo>
  get(id: string, options?: CallOptions): Promise<DrillInfo>
  /** Oldest first. */
  list(filter?: Filter<typeof DrillListQuery>, options?: CallOptions): Promise<ReadonlyArray<DrillInfo>>
  /** Ends a drill: releases what it still halts, and records what it measured. */
  complete(id: string, options?: ActOptions): Promise<DrillInfo>
  /** Vouches for what a drill measured. Another writer than its starter's. */
  attest(id: string, options?: ActOptions): Promise<DrillInfo>
}

/** Kill state, breakers and drills of each agent, and the state of the kill switch's channel. */
export interface SafetyInfo extends Info<typeof SafetyOut> {}

/** The safety view: each agent's kill state, breakers and drills. */
export interface SafetyClient {
  /** Oldest first: all agents, or a page of them. */
  view(filter?: Filter<typeof SafetyQuery>, options?: CallOptions): Promise<SafetyInfo>
}
