/**
 * Metrics of breakers. Each is a fold over the records of one agent that answers, for a time and a position in the
 * chain, whether it trips. The service, the preview and the verifier run the same folds.
 *
 * Spec: envelopes.md 3.9; decision 0044.
 */
import type { JsonMap } from "../records/record.ts"

/** A record as metrics read it. Spec: format 1 section 10. */
export interface MetricRecord {
  readonly seq: number
  /** The record's own time. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
  readonly kind: string
  readonly body: JsonMap
  /**
   * Of `kill.expected` and `kill.released`: the instances of the agent that the activation expects. A `kill.expected`
   * comes with `response` and `drill` of its activation in the body, and with the `activated_at` of that as its time.
   */
  readonly instances?: ReadonlyArray<string>
}

/**
 * Kinds of records that are about an agent by the instances that an activation expects, and by no member of their own:
 * the halt of a model, an org unit or a parent is one of these. Spec: format 1 section 10, `kill_ack_missing`.
 */
export const haltKinds: ReadonlyArray<string> = ["kill.expected", "kill.released"]

/** The place of a reading: records up to `seq` count, at the time `ms`. Unit: milliseconds since 1970 UTC. */
export interface ReadAt {
  readonly ms: number
  readonly seq: number
}

/** Facts about an agent that a reading depends on besides the folded records. */
export interface AgentFacts {
  readonly isActive: boolean
  /** Since when nobody answers for the agent; null where somebody does. Unit: milliseconds since 1970 UTC. */
  readonly orphanedSinceMs: number | null
  /** The first record of the chain that is not in order, as a check of this process found it; null where none did. */
  readonly firstBadSeq: number | null
}

/** Value of a metric at a time and a position. Spec: format 1 section 10. */
export interface Reading {
  /** `37/412` for a share, a number otherwise. It fits the type `name` of a record's body. */
  readonly value: string
  /** Records that the value is made of. */
  readonly samples: number
  readonly tripped: boolean
  /** The first and the last record that count; null where none does. */
  readonly fromSeq: number | null
  readonly toSeq: number | null
}

/** A running metric. Records come in order; readings may lie before the last record. */
export interface MetricFold {
  readonly add: (record: MetricRecord) => void
  readonly read: (at: ReadAt, facts: AgentFacts) => Reading
  /**
   * Lets go of what no reading depends on that is at or after this time, and as of the last record before it or a later
   * one. Unit: milliseconds since 1970 UTC.
   */
  readonly forget: (beforeMs: number) => void
}

/** The type and the bounds of a parameter. `default` stands where it is left out; without one it must be there. */
export type ParamSpec =
  | {
      readonly type: "integer"
      readonly min: number
      readonly max: number
      readonly default?: number
      readonly optional?: true
    }
  | { readonly type: "name"; readonly max: number; readonly optional?: true }
  | {
      readonly type: "word"
      readonly words: ReadonlyArray<string>
      readonly default?: string
      readonly optional?: true
    }

/** The parameters of a breaker: integers, names and words, with defaults filled in. */
export type Params = { readonly [name: string]: number | string }

/** Where a window begins: the record that armed, changed or released the breaker. */
export interface WindowStart {
  readonly seq: number
  readonly atMs: number
}

/** A metric that breakers can watch. Spec: format 1 section 10; decision 0044. */
export interface Metric {
  readonly name: string
  /** One sentence: what its value is. */
  readonly about: string
  /** When it trips, in words. */
  readonly trips: string
  readonly params: { readonly [name: string]: ParamSpec }
  /** Kinds of records that it reads. */
  readonly kinds: ReadonlyArray<string>
  /** True when its value is a share, so that `confidence_bp` applies. */
  readonly isRate?: true
  /**
   * With the parameter `per` `run` its value is that of the highest run alone, so that runs can calibrate it.
   * `threshold`: the parameter that they set; it is so far `beyond` the highest value that does not trip.
   */
  readonly perRun?: { readonly threshold: string; readonly beyond: 0 | 1 }
  /** True when time alone can trip it: it is read on a tick too. */
  readonly isAbsence?: true
  /** True when its value rests on more than records, so that nobody else can recompute it. */
  readonly isLocal?: true
  /** True when a trip halts the whole deployment, whatever response is set. */
  readonly stopsDeployment?: true
  /** How far back it reads. Unit: milliseconds. */
  readonly reachMs: (params: Params) => number
  readonly start: (params: Params, start: WindowStart, confidenceBp: number) => MetricFold
}

/** A metric that is named and whose source is not built. Spec: decision 0044. */
export interface UnavailableMetric {
  readonly name: string
  readonly about: string
  /** Description of what is missing, for a refusal. */
  readonly lacks: string
}

/** A second to a year: windows of metrics. Unit: milliseconds. */
export const windowMs = { type: "integer", min: 1_000, max: 31_622_400_000 } as const satisfies ParamSpec
/** Samples that a share needs before it trips. */
export const minSamples = { type: "integer", min: 1, max: 1_000_000, default: 20 } as const satisfies ParamSpec
/** The share at which it trips, in hundredths of a percent. */
export const thresholdBp = { type: "integer", min: 1, max: 10_000 } as const satisfies ParamSpec
