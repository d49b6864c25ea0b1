import type { Outcome } from "../../language/compiled.ts"
import type { Values } from "../../decide/decode.ts"
import type { Meter } from "../../language/envelope.ts"
import type { Actor } from "../../meters/meter-reading.ts"

/**
 * An evaluation as its record states it. A missing member makes it not replayable; nothing is guessed. Spec: format 1
 * section 8, `evaluation.made`; decision 0022.
 */
export interface RecordedEvaluation {
  readonly evaluationId: string
  /**
   * Its own time. May lie before that of a record before it: evaluations that share no window do not wait for each
   * other.
   */
  readonly atMs: number
  readonly actor: Actor
  /** Signals that the caller sent; null: withheld or erased. */
  readonly signals: Values | null
  /** The arguments; left out where there were none, null where they are withheld, erased or known by their digest. */
  readonly args?: unknown
  readonly server: Values
  /**
   * Signals of the service, and `org_unit`, that the records no longer hold: their part was erased, or lies in a chain
   * that was put aside.
   */
  readonly unreported: ReadonlyArray<string>
  readonly latches: ReadonlySet<string>
  readonly outcome: Outcome
  /**
   * The reserved rule that ended it before any rule was checked, for any envelope: `@killed`, `@suspended`,
   * `@not_active`. Null for all others.
   */
  readonly stoppedBy: string | null
  /** True when an approved review was consumed. */
  readonly approved: boolean
  readonly meters: ReadonlyArray<RecordedReading>
  /** Declarations of the envelope in force: names of its signals, and its meters. Null where none was in force. */
  readonly declared: { readonly signals: ReadonlySet<string>; readonly meters: ReadonlyArray<Meter> } | null
}

/**
 * A meter as its record has it. `count`: whether the window was found to hold fewer contributions than the meter may,
 * or as many; `unknown` where the verdict does not tell.
 */
export interface RecordedReading {
  readonly id: string
  readonly key: string
  readonly value: number
  readonly count: "below" | "full" | "unknown"
}

/** An event that a backtest reads, in the order of the chain. `actual` is by meter. */
export type RecordedEvent =
  | { readonly kind: "evaluation"; readonly evaluation: RecordedEvaluation }
  | { readonly kind: "settled"; readonly evaluationId: string; readonly actual: Readonly<Record<string, number>> }
  | { readonly kind: "voided"; readonly evaluationId: string }

/** Why a record cannot be replayed. The part behind the colon names the signal, meter or rule. */
export type NotReplayable =
  | "withheld"
  | `stopped:${string}`
  | `signal_not_recorded:${string}`
  | `server_signal_not_recorded:${string}`
  | "org_unit_not_recorded"
  | `meter_not_recorded:${string}`
  | `meter_count:${string}`
  | `meter_window_not_filled:${string}`
