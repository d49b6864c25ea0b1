/** Checks that what an agent's record states in its body follows from its parts. Spec: decision 0069. */
import { orgUnitDigest } from "../../agents/sealed-members.ts"
import { partMembers } from "../../records/part-json.ts"
import type { Json, JsonMap, ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

const kinds: ReadonlySet<string> = new Set(["agent.registered", "agent.updated", "agent.owner_transferred"])

/** Finds a contradiction of a part that is shown. A member that the body lacks says nothing. */
export const judgeAgentParts = ({ body, kind, parts }: ReplayRecord, originTag: Uint8Array | null): Problem | null => {
  if (!kinds.has(kind)) return null
  const wrong = (member: string, part: string, follows: Json): Problem | null =>
    body[member] === undefined || JSON.stringify(body[member]) === JSON.stringify(follows)
      ? null
      : problem("part_mismatch", `${member} does not follow from the part ${part}.`)
  const owner = partMembers(parts.get("owner"))
  // A registration without the part has no owner; an update without it says nothing of one.
  const isUnowned = owner.state === "absent" && kind === "agent.registered"
  const owned: JsonMap | undefined = isUnowned ? {} : owner.state === "known" ? owner.members : undefined
  const profile = partMembers(parts.get("profile"))
  const { model_ids: models, org_unit: unit } = profile.state === "known" ? profile.members : {}
  return (
    (originTag !== null && typeof unit === "string"
      ? wrong("org_unit_digest", "profile", orgUnitDigest(originTag, unit))
      : null) ??
    (models === undefined ? null : wrong("model_ids", "profile", models)) ??
    (owned === undefined
      ? null
      : wrong(
          "owner_complete",
          "owner",
          typeof owned["owner_email"] === "string" && typeof owned["owner_name"] === "string"
        ))
  )
}
