/** Plans the proposal of a standing approval. Pure. */
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import { boxOf, RULES, type StandingApprovalDocument } from "@flyball/rules"
import { type StandingPlan, putStanding } from "./document.ts"

/** Decides what a proposal would change. It approves nothing yet. */
export const planPropose = (id: string, standing: StandingApprovalDocument): StandingPlan => ({
  standing,
  change: {
    puts: [putStanding(id, 0, standing)],
    records: [
      {
        kind: "standing_approval.proposed",
        agentId: standing.agentId,
        body: {
          agent_id: standing.agentId,
          asks: standing.asks,
          box_digest: standing.boxDigest,
          count: standing.count,
          evaluation_id: standing.evaluationId,
          expires_at: formatInstant(standing.expiresAtMs),
          layers: standing.layers.map(({ digest, envelopeId, version }) => ({
            digest,
            envelope_id: envelopeId,
            version
          })),
          review_id: standing.reviewId,
          rules: RULES,
          standing_approval_id: id,
          writer: standing.proposedBy
        },
        parts: [
          { name: "box", bytes: canonicalBytes(boxOf(standing)) },
          { name: "reason", bytes: canonicalBytes(standing.reason) }
        ]
      }
    ]
  }
})
