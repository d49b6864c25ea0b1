/** Whom an activation concerns. Pure: the live service and the verifier both run it. */
import type { AgentDocument } from "../agents/document.ts"
import { isSameModel, type RegisteredModels } from "../models/names.ts"
import type { KillTarget } from "./document.ts"
import type { KillVia } from "./response.ts"

/** Facts by which activations reach an agent. Spec: decision 0047. */
export interface AgentReach {
  readonly id: string
  /** The texts of `model_ids`: ids `mdl_…`, or names. */
  readonly modelIds: ReadonlyArray<string>
  /** Names of its provenance of kind `model`. */
  readonly provenanceModels: ReadonlyArray<string>
  /** The models that ids among these texts, and among targets, belong to. */
  readonly registered: RegisteredModels
  /** Null where the org unit was erased. */
  readonly orgUnitDigest: string | null
  /** Digests of the org unit in retired chains. */
  readonly formerUnitDigests?: ReadonlyArray<string>
  /** Its parent, the parent of that, and so on. */
  readonly ancestors: ReadonlyArray<string>
}

/**
 * The nearest way in which a target reaches an agent; null if it does not. A model is matched by any of its names.
 *
 * - Spec: envelopes.md 3.10: an agent, its models by provenance, its org unit, the deployment.
 */
export const reaches = ({ id, type }: KillTarget, agent: AgentReach): KillVia | null => {
  switch (type) {
    case "agent":
      return id === agent.id ? "agent" : agent.ancestors.includes(id) ? "parent" : null
    case "model":
      return [...agent.modelIds, ...agent.provenanceModels].some((name) => isSameModel(id, name, agent.registered))
        ? "model"
        : null
    case "org_unit":
      return id === agent.orgUnitDigest || agent.formerUnitDigests?.includes(id) === true ? "org_unit" : null
    case "deployment":
      return "deployment"
  }
}

/**
 * Reads an agent's reach from its document. Older documents lack the members that stay when a profile is erased.
 *
 * - `ancestors`, `provenanceModels`, `registered`, `formerUnitDigests`: as in {@link AgentReach}; of other documents.
 * - Spec: decision 0047.
 */
export const agentReach = (
  id: string,
  agent: AgentDocument,
  ancestors: ReadonlyArray<string>,
  provenanceModels: ReadonlyArray<string>,
  registered: RegisteredModels,
  formerUnitDigests: ReadonlyArray<string> = []
): AgentReach => ({
  id,
  modelIds: agent.sealedModelIds ?? agent.modelIds,
  provenanceModels,
  registered,
  orgUnitDigest: agent.orgUnitDigest ?? null,
  formerUnitDigests,
  ancestors
})
