/** The client of an agent that runs in the governor's own process. */
import type { AgentInfo, AgentInput, EvaluationInfo } from "@flyball/contract"

/** Options of `governor.client`. */
export interface AgentClientOptions {
  /** The agent: its id, or what to register where there is none of this name. */
  readonly agent: string | AgentInput
  /**
   * Names this process among the agent's instances; `in-process` if left out. Processes of one name share their
   * references: give those that run at the same time names of their own only where a halt must tell them apart.
   */
  readonly instanceId?: string | undefined
}

/** An action to guard. */
export interface GuardedAction {
  /** The tool's name, as the envelope calls it. */
  readonly name: string
  /**
   * Your own name for the intent, at most 100 characters; made up if left out. The same one again gets the first
   * verdict and runs nothing a second time, also after a restart; after an approval it continues. With other arguments,
   * or by another instance, it is refused with `client_ref_reused`.
   */
  readonly ref?: string | undefined
  /** Signals of the envelope. Left out: the name as `tool`, and the arguments, as far as the envelope declares them. */
  readonly signals?: { readonly [name: string]: unknown } | undefined
  readonly run_id?: string | undefined
  /** How long to wait for the person who must approve; a close ends it. Unit: milliseconds; 0 if left out. */
  readonly hold_ms?: number | undefined
}

/** The input of an effect. */
export interface RunningAction {
  /** Aborts when the agent is halted. */
  readonly signal: AbortSignal
  readonly evaluation: EvaluationInfo
}

/** A guarded action that ran, now or earlier. */
export interface Guarded<A> {
  /** True if the action of this `ref` began earlier: nothing ran now, and `result` is null. */
  readonly repeated: boolean
  readonly result: A | null
  readonly decision_id: string
  /** The record of the decision. */
  readonly seq: number
  readonly evaluation: EvaluationInfo
}

/**
 * One agent in this process. It obeys halts, and acknowledges them as the instance that it is. Spec: envelopes.md 3.10
 * and 3.12.
 */
export interface AgentClient {
  readonly agent: AgentInfo
  readonly instanceId: string
  /**
   * Runs an effect only where the agent may do it. The decision is durable before the effect begins, and its outcome
   * when the promise resolves. An effect that throws is recorded as `error`, and its error is thrown on.
   *
   * - Fails: `action_denied`, whose `detail` has `outcome`, `rule`, `evaluation_id` and `review_id`. Any failure before
   *   the effect means that it did not run; one of `settle` that it ran, and is recorded as `intended`.
   */
  guard<A>(
    action: string | GuardedAction,
    args: unknown,
    effect: (running: RunningAction) => A | Promise<A>
  ): Promise<Guarded<A>>
  /** Stops following halts. Closing the governor does it too. */
  close(): void
}
