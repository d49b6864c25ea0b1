/** Drills in the embedding API, derived from the contract. */
import type { DrillIn, DrillListQuery, DrillOut } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** Request for a drill: what to exercise. */
export interface DrillInput extends Input<typeof DrillIn> {}

/**
 * A drill. `result` is null until it is completed. Spec: format 1 section 8, `drill.started` and `drill.completed`;
 * decision 0048.
 */
export interface DrillInfo extends Info<typeof DrillOut> {}

/** Drills: exercises of the kill switch. Spec: decision 0048. */
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
