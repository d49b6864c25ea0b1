/**
 * Steps of an evaluation that other capabilities have a word in: kills and reviews. Until they are there, nothing is
 * halted and nobody reviews.
 */
import { Context, Effect } from "effect"
import type { KillState, Outcome } from "@flyball/envelope"
import type { ChangeSet, ReadFault } from "../../storage/port.ts"

/** Kill activations against an agent, and the document versions that the commit must find unchanged. */
export interface KillOf {
  readonly state: KillState
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
  readonly killOf: (agentId: string) => Effect.Effect<KillOf, ReadFault>
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
    killOf: () => Effect.succeed({ state: "none", expects: [] }),
    approval: () => Effect.succeed({ approved: false, change: {} }),
    follow: () => ({ reviewId: null, change: {} })
  })
})
