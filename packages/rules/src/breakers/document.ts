/** A breaker as state. Plain data. */
import { breakerModes } from "@flyball/evidence/words"
import type { Params } from "./metric.ts"
import type { KillResponse } from "../kill/response.ts"

export { breakerModes }

/** Collection of the breakers. */
export const BREAKERS = "breakers"

/** One of {@link breakerModes}. */
export type BreakerMode = (typeof breakerModes)[number]

/** A trip, as its record states it. Spec: format 1 section 8, `breaker.tripped`. */
export type BreakerTrip = {
  readonly atMs: number
  readonly asOfSeq: number
  readonly value: string
  readonly samples: number
  readonly mode: BreakerMode
  /** Null where nothing was activated. */
  readonly response: KillResponse | null
  readonly activationId: string | null
}

/**
 * A breaker. It is tripped exactly while `trip` is there: latched until a person releases it. Spec: document 1 section
 * 2, "Circuit breaker record"; decision 0044.
 */
export type BreakerDocument = {
  readonly agentId: string
  readonly name: string
  readonly metric: string
  readonly params: Params
  readonly enabled: boolean
  readonly mode: BreakerMode
  readonly confidenceBp: number
  /** The bound on false stops that its threshold keeps. Unit: hundredths of a percent. */
  readonly maxFalseStopBp?: number
  /** The runs that set its threshold: how many, within which records. */
  readonly goodRuns?: { readonly fromSeq: number; readonly toSeq: number; readonly runs: number }
  /** Its own response; null leaves it to the response policy. */
  readonly response: KillResponse | null
  readonly createdBy: string
  /**
   * The head when the record that begins its window was planned: that record is the breaker's first one after it. -1
   * while the chain was empty.
   */
  readonly sinceSeq: number
  readonly trip: BreakerTrip | null
  /** The activation of the last trip that made one: it stays when the breaker is released. */
  readonly lastActivationId: string | null
}

/** The look-up key that makes a name unique within its agent. */
export const breakerUnique = ({ agentId, name }: Pick<BreakerDocument, "agentId" | "name">) => ({
  name: `${agentId}/${name}`
})

/** The look-up key by which an agent's breakers are found. */
export const breakerKeys = ({ agentId }: Pick<BreakerDocument, "agentId">) => ({ agent_id: agentId })

/** True when a breaker is read: it is enabled and not tripped. */
export const isWatching = ({ enabled, trip }: Pick<BreakerDocument, "enabled" | "trip">): boolean =>
  enabled && trip === null

/** Kinds of records that restart a breaker's window. Spec: format 1 section 10. */
export const windowKinds: ReadonlyArray<string> = ["breaker.armed", "breaker.changed", "breaker.released"]
