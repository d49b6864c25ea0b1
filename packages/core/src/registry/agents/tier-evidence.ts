/** Port through which other capabilities give the tier gate evidence about an agent. */
import { Context, Effect } from "effect"
import type { ReadFault } from "../../storage/port.ts"

/** Answers on conditions that the registry does not hold itself. Spec: decision 0038. */
export interface TierEvidenceApi {
  /** Reports whether a published envelope binds the agent, which is of this org unit. */
  readonly publishedEnvelope: (agentId: string, orgUnit: string | null) => Effect.Effect<boolean, ReadFault>
}

/**
 * Port to the capabilities that prove conditions of a tier. Without one, its condition is unmet. Spec: decision 0038.
 */
export const TierEvidence = Context.Reference<TierEvidenceApi>("flyball/core/TierEvidence", {
  defaultValue: () => ({ publishedEnvelope: () => Effect.succeed(false) })
})
