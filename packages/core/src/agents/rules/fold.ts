/** Folds an agent's records into the document they say there is. */
import { parseInstant } from "@flyball/evidence"
import { partMembers } from "../../replay/rules/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../../replay/rules/types.ts"
import { type AgentDocument, type AgentOwner, type AgentProfile, erasedProfile, noOwner, ownerMembers, profileMembers } from "./document.ts"

/** The document after `agent.registered`. */
export const foldAgentRegistered = (record: ReplayRecord): ExpectedDocument => {
  const id = String(record.body["agent_id"])
  const profile = partMembers(record.parts.get("profile"))
  const owner = partMembers(record.parts.get("owner"))
  const body: AgentDocument = {
    ...(profile.state === "known" ? readProfile(profile.members) : erasedProfile(id)),
    ...(owner.state === "known" ? readOwner(owner.members) : noOwner),
    autonomyTier: String(record.body["autonomy_tier"]) as AgentDocument["autonomyTier"],
    riskClass: text(record.body["risk_class"]) ?? "unclassified",
    status: "draft",
    recertDueAtMs: instant(record.body["recert_due_at"])
  }
  const lost = (state: string): boolean => state === "withheld" || state === "missing" || state === "unreadable"
  return {
    collection: "agents",
    id,
    body,
    unique: lost(profile.state) ? {} : { name: body.name },
    unknown: [...(lost(profile.state) ? profileMembers : []), ...(lost(owner.state) ? ownerMembers : [])],
    erased: [...(profile.state === "erased" ? profileMembers : []), ...(owner.state === "erased" ? ownerMembers : [])],
    personal: [...profileMembers, ...ownerMembers]
  }
}

const readProfile = (members: JsonMap): AgentProfile => ({
  name: String(members["name"]),
  description: text(members["description"]),
  orgUnit: text(members["org_unit"]),
  purpose: text(members["purpose"]),
  agentVersion: text(members["agent_version"]),
  framework: text(members["framework"]),
  modelIds: (members["model_ids"] as ReadonlyArray<string> | undefined) ?? [],
  labels: (members["labels"] as JsonMap | undefined) ?? {},
  blastRadius: (members["blast_radius"] as JsonMap | undefined) ?? {}
})

const readOwner = (members: JsonMap): AgentOwner => ({ ownerName: text(members["owner_name"]), ownerEmail: text(members["owner_email"]) })

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)

const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
