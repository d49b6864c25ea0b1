/** The result of an evaluation. Spec: `SPEC.md` section 11. */
import type { Outcome } from "../language/compiled.ts"
import type { Obligation } from "../language/envelope.ts"
import type { MeterReading } from "../meters/meter-reading.ts"

/**
 * Rules that no envelope declares. `@budget:<meter>` and `@fail_closed:<cause>` name something behind the colon. The
 * last two are the agent's SDK's.
 */
export const reservedRules = [
  "@default",
  "@invalid_signal",
  "@missing_signal",
  "@killed",
  "@suspended",
  "@not_active",
  "@tier_floor",
  "@budget",
  "@no_envelope",
  "@stale_status",
  "@fail_closed"
] as const

/**
 * The reason in a verdict on an agent that may not act: `@not_active` where it is no suspension that keeps the agent
 * from acting. Spec: `envelope/1` section 11, step 2.
 */
export type InactiveRule = "@suspended" | "@not_active"

/** Steps that end an evaluation before any rule is checked. Spec: `envelope/1` section 11, steps 1 to 5. */
export type StopStep = "kill" | "agent" | "envelope" | "signals"

/** The step at which an evaluation ended early. `id` names the signal, where it is a declared one. */
export interface Stop {
  readonly step: StopStep
  readonly id: string | null
}

/** An evaluation's verdict and everything that led to it. Spec: `envelope/1` sections 11 and 12. */
export interface Decision {
  readonly outcome: Outcome
  /** The rule that decided, or a reserved name. */
  readonly matchedRule: string
  readonly stopped: Stop | null
  /**
   * For each rule the axis at which it failed (`runTable` says how), -1 where it holds, -2 where it can hold nowhere.
   * Empty where the evaluation ended early.
   */
  readonly failedOn: ReadonlyArray<number>
  readonly meters: ReadonlyArray<MeterReading>
  readonly obligations: ReadonlyArray<Obligation>
  /** Of `allow_with_notice`: time to witness the notice. */
  readonly noticeMs: number | null
  /** Of `deny`: how long the same digest stays denied without another item. */
  readonly retryAfterMs: number | null
  readonly suggestion: string | null
  /** True when an approved review turned `require_review` into `allow`. */
  readonly approved: boolean
}
