/**
 * Members that the bodies of an agent's records hold for readers without its parts: they determine which halts reach
 * the agent, and whether it has a complete owner. Parts may be erased or withheld; bodies never are.
 */
import { concatBytes, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"
import type { AgentDocument } from "./document.ts"
import { isCompleteOwner } from "./owner.ts"

/**
 * The digest of an org unit: a reader who knows the unit can check it, and equal units of one chain have equal digests.
 *
 * It is no secret: names of units are easy to guess.
 *
 * - Unit: `originTag` is the first 4 bytes of SHA-256 of the origin.
 * - Spec: format 1 section 8, `agent.registered`; decision 0047.
 */
export const orgUnitDigest = (originTag: Uint8Array, orgUnit: string): string =>
  toHex(portableCrypto.sha256(concatBytes(utf8("flyball/v1 org_unit\0"), originTag, utf8(orgUnit))))

/**
 * The agent with the members that its next record seals. `modelIds` are those from here on; left out, what was sealed
 * stays, also where the profile was erased. Spec: format 1 section 8, `agent.updated`; decision 0047.
 */
export const withSealedMembers = (
  agent: AgentDocument,
  originTag: Uint8Array,
  modelIds: ReadonlyArray<string> = agent.sealedModelIds ?? agent.modelIds
): AgentDocument => ({
  ...agent,
  sealedModelIds: modelIds,
  ...(agent.orgUnit === null ? {} : { orgUnitDigest: orgUnitDigest(originTag, agent.orgUnit) }),
  ...(isCompleteOwner(agent) ? {} : { ownerComplete: false })
})

/**
 * The sealed members for a record's body. Absent ones are undefined. Spec: format 1 section 8, `agent.registered` and
 * `agent.updated`.
 */
export const sealedBody = (agent: AgentDocument): { readonly [member: string]: Json | undefined } => ({
  model_ids: agent.sealedModelIds,
  org_unit_digest: agent.orgUnitDigest,
  owner_complete: isCompleteOwner(agent),
  parent_agent_id: agent.parentAgentId
})

/**
 * True when no record of this chain states these members yet: the agent is from the chain before. Spec: format 1
 * section 8, `agent.updated`; decision 0047.
 */
export const lacksSealedMembers = (agent: AgentDocument, originTag: Uint8Array): boolean =>
  agent.sealedModelIds === undefined ||
  (agent.orgUnit !== null && agent.orgUnitDigest !== orgUnitDigest(originTag, agent.orgUnit))

/** Members of a document after a record that may say them; what it does not say stays. */
export const readSealed = (members: JsonMap, body: JsonMap): JsonMap => ({
  ...members,
  ...(Array.isArray(body["model_ids"]) ? { sealedModelIds: body["model_ids"] } : {}),
  ...(typeof body["org_unit_digest"] === "string" ? { orgUnitDigest: body["org_unit_digest"] } : {}),
  ...(typeof body["parent_agent_id"] === "string" ? { parentAgentId: body["parent_agent_id"] } : {})
})
