/** Plans what an agent is said to be made of. Pure. */
import type { InvalidTransition, ProvenanceCreate } from "@flyball/contract"
import { Result } from "effect"
import { allowed } from "../agents/change-agent.ts"
import { AGENTS, type StoredAgent } from "../agents/document.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { canonicalPart } from "../../storage/text-part.ts"
import type { Writer } from "../../foundation/writer.ts"
import { erasedProvenance, PROVENANCE, type ProvenanceDocument, readMembers, writeMembers } from "@flyball/rules"

/** The piece there will be, and the change that adds it. */
export interface ProvenancePlan {
  readonly piece: ProvenanceDocument
  readonly change: ChangeSet
}

/**
 * Decides what adding a piece to an agent would change.
 *
 * - Fails: `InvalidTransition` at the agent's end.
 * - Spec: document 1 section 4, POST /agents/{agent_id}/provenance; api "agents and registry".
 */
export const planAddProvenance = (
  provenanceId: string,
  agent: StoredAgent,
  input: ProvenanceCreate,
  writer: Writer
): Result.Result<ProvenancePlan, InvalidTransition> =>
  Result.map(allowed(agent, "add-provenance"), () => {
    const piece: ProvenanceDocument = {
      agentId: agent.id,
      kind: input.kind,
      digest: input.digest ?? null,
      slsaLevel: input.slsa_level ?? null,
      recordedBy: writer.id,
      ...readMembers(input, erasedProvenance(input.name))
    }
    return {
      piece,
      change: {
        // An agent that ends meanwhile gets nothing more.
        expects: [{ collection: AGENTS, id: agent.id, version: agent.version }],
        puts: [
          { collection: PROVENANCE, id: provenanceId, expectedVersion: 0, body: piece, keys: { agent_id: agent.id } }
        ],
        records: [
          {
            kind: "agent.provenance_added",
            agentId: agent.id,
            body: omitNullish({
              agent_id: agent.id,
              digest: piece.digest,
              kind: piece.kind,
              provenance_id: provenanceId,
              slsa_level: piece.slsaLevel,
              writer: writer.id
            }) as JsonObject,
            parts: [canonicalPart("profile", omitNullish(writeMembers(piece, erasedProvenance(piece.name))))]
          }
        ]
      }
    }
  })
