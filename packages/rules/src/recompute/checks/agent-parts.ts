/** Checks that what an agent's record states in its body follows from its parts. Spec: decision 0069. */
import { orgUnitDigest } from "../../agents/sealed-members.ts"
import { partMembers } from "../../records/part-json.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

const kinds: ReadonlySet<string> = new Set(["agent.registered", "agent.updated", "agent.owner_transferred"])

/** What contradicts a part that is shown; null where nothing does. */
export const judgeAgentParts = ({ body, kind, parts }: ReplayRecord, originTag: Uint8Array | null): Problem | null => {
  if (!kinds.has(kind)) return null
  const profile = partMembers(parts.get("profile"))
  if (profile.state === "known") {
    const { model_ids: models, org_unit: unit } = profile.members
    if (originTag !== null && typeof unit === "string" && body["org_unit_digest"] !== orgUnitDigest(originTag, unit))
      return differs("org_unit_digest", "profile")
    if (models !== undefined && JSON.stringify(models) !== JSON.stringify(body["model_ids"]))
      return differs("model_ids", "profile")
  }
  const owner = partMembers(parts.get("owner"))
  if (owner.state !== "known") return null
  const isComplete = ["owner_email", "owner_name"].every((name) => typeof owner.members[name] === "string")
  return body["owner_complete"] === isComplete ? null : differs("owner_complete", "owner")
}

const differs = (member: string, part: string): Problem =>
  problem("part_mismatch", `${member} does not follow from the part ${part}.`)
