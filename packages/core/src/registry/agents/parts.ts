/** The parts of an agent's records: what people wrote, and who they are. Decision 0006 says why names are parts. */
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { PartDraft } from "../../storage/port.ts"
import { canonicalPart } from "../../storage/text-part.ts"
import { type AgentOwner, type AgentProfile, erasedProfile, noOwner, writeMembers } from "@flyball/rules"

/** The part `owner`; none without an owner. */
export const ownerPart = (owner: AgentOwner): ReadonlyArray<PartDraft> =>
  owner.ownerName === null && owner.ownerEmail === null
    ? []
    : [canonicalPart("owner", omitNullish(writeMembers(owner, noOwner)))]

/** The part `profile`. */
export const profilePart = (agent: AgentProfile): PartDraft =>
  canonicalPart("profile", omitNullish(writeMembers(agent, erasedProfile(agent.name))))

/** The part `reason`: what a person said of an act; none where nothing was said. */
export const reasonPart = (reason: string | null): ReadonlyArray<PartDraft> =>
  reason === null ? [] : [canonicalPart("reason", reason)]
