/**
 * Steps of an evaluation that other capabilities have a word in: the kill switch (`verdicts/kill/steps.ts`), and
 * reviews. Until reviews are there, nobody reviews.
 */
import { Context, Effect } from "effect"
import type { KillState, Outcome } from "@flyball/envelope"
import type { ReachingActivation } from "@flyball/rules"
import type { StoredAgent } from "../../registry/agents/document.ts"
import type { AsOf, ChangeSet, ReadFault } from "../../storage/port.ts"

/** Kill activations against an agent, and the document versions that the commit must find unchanged. */
export interface KillOf {
  readonly state: KillState
  /** The activations that reach it, which its evaluation records. */
  readonly activations: ReadonlyArray<ReachingActivation>
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** Result of an evaluation, for the steps that follow it. */
export interface Concluded {
  readonly evaluationId: string
  readonly agentId: string
  readonly outcome: Outcome
  readonly matchedRule: string
  readonly envelopeId: string | null
  readonly actionDigest: string | null
}

/** The other steps. */
export interface EvaluationStepsApi {
  readonly killOf: (agent: StoredAgent) => Effect.Effect<KillOf, ReadFault>
  /**
   * Trips the breakers of these agents that are due at this time and position, and answers whether any was: what the
   * evaluations read before may not hold any more.
   */
  readonly tripDue: (agentIds: ReadonlySet<string>, at: AsOf) => Effect.Effect<boolean, ReadFault>
  /** Whether an approved review of this very action is there to be consumed, and the change that consumes it. */
  readonly approval: (
    approvalId: string,
    agentId: string,
    actionDigest: string | null
  ) => Effect.Effect<{ readonly approved: boolean; readonly change: ChangeSet }, ReadFault>
  /**
   * Changes that a verdict adds to its own commit: a review that opens (`require_review`), a kill that fires (`halt`).
   * Its records come after the evaluation's.
   */
  readonly follow: (concluded: Concluded) => { readonly reviewId: string | null; readonly change: ChangeSet }
}

/** The port. */
export const EvaluationSteps = Context.Reference<EvaluationStepsApi>("flyball/core/EvaluationSteps", {
  defaultValue: () => ({
    killOf: () => Effect.succeed({ state: "none", activations: [], expects: [] }),
    tripDue: () => Effect.succeed(false),
    approval: () => Effect.succeed({ approved: false, change: {} }),
    follow: () => ({ reviewId: null, change: {} })
  })
})
