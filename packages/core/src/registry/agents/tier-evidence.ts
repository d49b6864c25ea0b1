/** Facts on which the tier gate decides, and the port through which other modules give them. */
import { Context, Effect, Clock } from "effect"
import type { ReadFault } from "../../storage/port.ts"
import { conditionsOf, hasAttestedDrill, type TierFacts } from "@flyball/rules"
import type { StoredAgent } from "./document.ts"

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

/** The facts of an agent. Nothing is read where its tier needs no envelope. */
export const tierFactsOf = (
  evidence: TierEvidenceApi,
  { body, id }: Pick<StoredAgent, "body" | "id">
): Effect.Effect<TierFacts, ReadFault> =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const needsEnvelope =
      body.status !== "decommissioned" && conditionsOf(body.autonomyTier).includes("published_envelope")
    return {
      hasEnvelope: needsEnvelope && (yield* evidence.publishedEnvelope(id, body.orgUnit)),
      hasDrill: hasAttestedDrill(body, nowMs)
    }
  })
