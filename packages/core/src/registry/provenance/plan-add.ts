/** Plans what an agent is said to be made of. Pure. */
import type { InvalidTransition, ProvenanceCreate } from "@flyball/contract"
import { isNewForeignName } from "@flyball/evidence"
import { Result } from "effect"
import { allowed } from "../agents/change-agent.ts"
import { AGENTS, type StoredAgent } from "../agents/document.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { canonicalPart } from "../../storage/text-part.ts"
import type { Writer } from "../../foundation/writer.ts"
import {
  erasedProvenance,
  KILL_REACH,
  PROVENANCE,
  type ProvenanceDocument,
  readMembers,
  writeMembers
} from "@flyball/rules"

/** The piece there will be, and the change that adds it. */
export interface ProvenancePlan {
  readonly piece: ProvenanceDocument
  readonly change: ChangeSet
}

/**
 * Decides what adding a piece to an agent would change. `reachVersion`: of the document `KILL_REACH`, which a piece of
 * kind `model` puts.
 *
 * - Fails: `InvalidTransition` at the agent's end.
 * - Spec: document 1 section 4, POST /agents/{agent_id}/provenance; api "agents and registry".
 */
export const planAddProvenance = (
  provenanceId: string,
  agent: StoredAgent,
  input: ProvenanceCreate,
  writer: Writer,
  reachVersion: number
): Result.Result<ProvenancePlan, InvalidTransition> =>
  Result.map(allowed(agent, "add-provenance"), () => {
    const piece: ProvenanceDocument = {
      agentId: agent.id,
      kind: input.kind,
      digest: input.digest ?? null,
      slsaLevel: input.slsa_level ?? null,
      recordedBy: writer.id,
      ...(input.kind === "model" && isTarget(input.name) ? { sealedModel: input.name } : {}),
      ...readMembers(input, erasedProvenance(input.name))
    }
    return {
      piece,
      change: {
        turn: { class: "act", key: writer.id },
        // An agent that ends meanwhile gets nothing more.
        expects: [{ collection: AGENTS, id: agent.id, version: agent.version }],
        puts: [
          { collection: PROVENANCE, id: provenanceId, expectedVersion: 0, body: piece, keys: { agent_id: agent.id } },
          ...(input.kind === "model" ? [{ ...KILL_REACH, expectedVersion: reachVersion, body: {} }] : [])
        ],
        records: [
          {
            kind: "agent.provenance_added",
            agentId: agent.id,
            body: omitNullish({
              agent_id: agent.id,
              digest: piece.digest,
              kind: piece.kind,
              model: piece.sealedModel,
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

/** Reports whether a name can be the target of a halt: it has the form of an identifier. */
const isTarget = (name: string): boolean => isNewForeignName(name, 200)
