/** Reads what the conditions of an agent's tier depend on beside its document. */
import { Clock, Effect } from "effect"
import type { ReadFault } from "../../storage/port.ts"
import { conditionsOf, hasAttestedDrill, type TierFacts } from "@flyball/rules"
import type { StoredAgent } from "./document.ts"
import type { TierEvidenceApi } from "./tier-evidence.ts"

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
