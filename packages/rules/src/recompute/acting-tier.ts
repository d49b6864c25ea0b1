/** Recomputes the tier at which the agent of a recorded evaluation acted. Spec: decision 0038. */
import type { AgentDocument, AutonomyTier } from "../agents/document.ts"
import { effectiveTier } from "../agents/effective-tier.ts"
import { hasAttestedDrill } from "../drills/document.ts"
import type { KillResponse } from "../kill/response.ts"
import { tierUnder } from "../kill/state.ts"
import type { Values } from "@flyball/envelope"
import type { EvaluationBody } from "../evaluations/evaluation-body.ts"
import { problem, type Problem } from "./recompute-verdict.ts"

/** The tiers that a record states. */
type StatedTiers = Pick<EvaluationBody, "as_of_ms" | "effective_tier" | "layers" | "tier">

/** The tier whose floor applied, as the record states it; the agent's own where it states none. */
export const actingTierOf = ({
  effective_tier: effective,
  tier
}: Pick<StatedTiers, "effective_tier" | "tier">): AutonomyTier => effective ?? tier

/**
 * Computes the tier at which an agent acts from its records. `body` names the layers in force. `response`: that of the
 * kill switch. An earlier record must attest the drill.
 */
export const expectedTier = (agent: AgentDocument, body: StatedTiers, response: KillResponse | null): AutonomyTier =>
  tierUnder(
    effectiveTier(agent, {
      hasEnvelope: Array.isArray(body.layers) && body.layers.length > 0,
      hasDrill: hasAttestedDrill(agent, body.as_of_ms)
    }),
    response
  )

/** Checks the effective tier of a record; answers the problem, or null. */
export const judgeActingTier = (
  agent: AgentDocument,
  body: StatedTiers,
  response: KillResponse | null
): Problem | null => {
  const expected = expectedTier(agent, body, response)
  return body.effective_tier === expected
    ? null
    : problem("tier_mismatch", `The agent acts at ${expected}; the record says ${body.effective_tier ?? "nothing"}.`)
}

/** The signals of the service, at the tier at which the agent acted. Spec: decisions 0038 and 0047. */
export const actingSignals = (server: Values, body: Pick<StatedTiers, "effective_tier" | "tier">): Values => {
  const tier = Number(actingTierOf(body).slice(1))
  return server["tier"] === tier ? server : { ...server, tier }
}
