/** Reads what the effective tier of an agent depends on beside its document. */
import { Clock, Effect } from "effect"
import type { ReadFault } from "../../storage/port.ts"
import type { AgentDocument } from "@flyball/rules"
import { canBeLowered, hasAttestedDrill, type TierFacts } from "@flyball/rules"
import type { TierEvidenceApi } from "./tier-evidence.ts"

const none: TierFacts = { hasEnvelope: false, hasDrill: false }

/** The facts of an agent. Of one whose tier cannot be lowered nothing is read. */
export const tierFactsOf = (
  evidence: TierEvidenceApi,
  id: string,
  agent: AgentDocument
): Effect.Effect<TierFacts, ReadFault> =>
  canBeLowered(agent)
    ? Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis
        return { hasEnvelope: yield* evidence.publishedEnvelope(id), hasDrill: hasAttestedDrill(agent, nowMs) }
      })
    : Effect.succeed(none)
