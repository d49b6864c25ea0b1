/** The parts of an agent's records: what people wrote, and who they are. Decision 0006 says why names are parts. */
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { PartDraft } from "../../storage/port.ts"
import { canonicalPart } from "../../storage/text-part.ts"
import type { AgentOwner, AgentProfile } from "@flyball/rules"

/** The part `owner`; none where nobody is named. */
export const ownerPart = (owner: AgentOwner): ReadonlyArray<PartDraft> =>
  owner.ownerName === null && owner.ownerEmail === null
    ? []
    : [canonicalPart("owner", omitNullish({ owner_email: owner.ownerEmail, owner_name: owner.ownerName }))]

/** The part `profile`. */
export const profilePart = (agent: AgentProfile): PartDraft =>
  canonicalPart(
    "profile",
    omitNullish({
      agent_version: agent.agentVersion,
      blast_radius: agent.blastRadius,
      description: agent.description,
      framework: agent.framework,
      labels: agent.labels,
      model_ids: agent.modelIds,
      name: agent.name,
      org_unit: agent.orgUnit,
      purpose: agent.purpose
    })
  )

/** The part `reason`: what a person said of an act; none where nothing was said. */
export const reasonPart = (reason: string | null): ReadonlyArray<PartDraft> =>
  reason === null ? [] : [canonicalPart("reason", reason)]
