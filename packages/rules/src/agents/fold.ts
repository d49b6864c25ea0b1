/** Folds an agent's records into the document they say there is. */
import { parseInstant } from "@flyball/evidence"
import { partMembers, partValue } from "../records/part-json.ts"
import { readMembers } from "../records/part-members.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import {
  type AgentProfile,
  erasedIdentity,
  erasedProfile,
  identityMembers,
  noOwner,
  ownerMembers,
  profileMembers
} from "./document.ts"
import { readSealed } from "./sealed-members.ts"

type Fold = (document: ExpectedDocument, record: ReplayRecord) => ExpectedDocument

/** Folds of an agent's records into its document, by kind. Spec: format 1 section 8; decision 0013. */
export const agentFolds: ReadonlyMap<string, Fold> = new Map<string, Fold>(
  Object.entries<Fold>({
    "agent.updated": (document, record) => {
      const body = {
        ...readSealed(document.body, record.body),
        // An update gives nobody an owner: only a transfer completes one.
        ...(record.body["owner_complete"] === false ? { ownerComplete: false } : {}),
        autonomyTier: record.body["autonomy_tier"]!,
        riskClass: text(record.body["risk_class"]) ?? "unclassified",
        recertDueAtMs: instant(record.body["recert_due_at"])
      }
      return record.parts.has("profile") ? withProfile({ ...document, body }, record) : { ...document, body }
    },
    "agent.activated": (document) => ({
      ...document,
      body: { ...notSuspended(document.body), status: "active" }
    }),
    "agent.suspended": (document, record) => {
      const reason = partValue(record.parts.get("reason"))
      return {
        ...tellable(document, ["suspensionReason"], reason.state),
        body: {
          ...notSuspended(document.body),
          ...(reason.state === "known" ? { suspensionReason: reason.value } : {}),
          status: "suspended",
          suspendedReason: record.body["reason"]!
        }
      }
    },
    "agent.decommissioned": (document, record) => ({
      ...document,
      body: {
        ...notSuspended(document.body),
        status: "decommissioned",
        decommissionedAtMs: instant(record.body["decommissioned_at"])
      }
    }),
    "agent.recertified": (document, record) => ({
      ...document,
      body: { ...document.body, recertDueAtMs: instant(record.body["recert_due_at"]) }
    }),
    "agent.owner_transferred": (document, record) =>
      withOwner({ ...document, body: withCompleteness(leftOut(document.body, "orphanedAtMs"), record) }, record),
    "agent.identity_attested": (document, record) =>
      record.body["verdict"] === "rejected" ? document : withIdentity(document, record),
    "drill.completed": (document, record) => ({
      ...document,
      body: { ...document.body, drilledAtMs: instant(record.body["completed_at"]) }
    }),
    "drill.attested": (document, record) => ({
      ...document,
      body:
        record.body["met"] === true
          ? { ...document.body, drillAttestedAtMs: instant(record.body["attested_at"]) }
          : document.body
    }),
    "agent.orphaned": (document, record) =>
      withOwner({ ...document, body: { ...document.body, orphanedAtMs: instant(record.body["since"]) } }, record)
  })
)

/** Kinds of agents' records whose parts the fold reads. */
export const agentKindsWithParts: ReadonlyArray<string> = [
  "agent.registered",
  "agent.updated",
  "agent.owner_transferred",
  "agent.identity_attested",
  "agent.suspended"
]

/** The document after `agent.registered`. */
export const foldAgentRegistered = (record: ReplayRecord): ExpectedDocument => {
  const body = {
    ...noOwner,
    autonomyTier: String(record.body["autonomy_tier"]),
    riskClass: text(record.body["risk_class"]) ?? "unclassified",
    status: "draft",
    recertDueAtMs: instant(record.body["recert_due_at"])
  }
  const empty: ExpectedDocument = {
    collection: "agents",
    id: String(record.body["agent_id"]),
    body: withCompleteness(readSealed(body, record.body), record),
    unique: {},
    unknown: [],
    erased: [],
    personal: [...profileMembers, ...ownerMembers, ...identityMembers, "suspensionReason"]
  }
  return withOwner(withProfile(empty, record), record)
}

/**
 * Reads from a record whether the owner is complete. Its body says so: the part that names the owner may be erased or
 * withheld.
 */
const withCompleteness = (members: JsonMap, { body: { owner_complete: isComplete } }: ReplayRecord): JsonMap =>
  isComplete === false
    ? { ...members, ownerComplete: false }
    : isComplete === true
      ? leftOut(members, "ownerComplete")
      : members

/** The document with the profile of a record, as far as it is known here. */
const withProfile = (document: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const profile = partMembers(record.parts.get("profile"))
  const reported: AgentProfile =
    profile.state === "known" ? readMembers(profile.members, erasedProfile(document.id)) : erasedProfile(document.id)
  return {
    ...tellable(document, profileMembers, profile.state),
    body: { ...document.body, ...reported },
    unique: isLost(profile.state) ? {} : { name: reported.name }
  }
}

/** The document with the owner of a record; one without that part has no owner. */
const withOwner = (document: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const owner = partMembers(record.parts.get("owner"))
  return {
    ...tellable(document, ownerMembers, owner.state),
    body: { ...document.body, ...(owner.state === "known" ? readMembers(owner.members, noOwner) : noOwner) }
  }
}

/** The document with the identity of a record. */
const withIdentity = (document: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const identity = partMembers(record.parts.get("identity"))
  const source = String(record.body["source"])
  const reported =
    identity.state === "known"
      ? {
          identitySource: text(identity.members["identity_source"]) ?? source,
          identityRef: text(identity.members["identity_ref"])
        }
      : erasedIdentity(source)
  return {
    ...tellable(document, identityMembers, identity.state),
    body: { ...document.body, identityVerified: record.body["verdict"] === "verified", ...reported }
  }
}

/** The members that cannot be determined, after a part in this state gave these members. */
const tellable = (document: ExpectedDocument, members: ReadonlyArray<string>, state: string): ExpectedDocument => {
  const others = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
    names.filter((name) => !members.includes(name))
  return {
    ...document,
    unknown: [...others(document.unknown), ...(isLost(state) ? members : [])],
    erased: [...others(document.erased), ...(state === "erased" ? members : [])]
  }
}

const isLost = (state: string): boolean => state === "withheld" || state === "missing" || state === "unreadable"

const leftOut = (body: JsonMap, name: string): JsonMap => {
  const { [name]: _, ...rest } = body
  return rest
}

const notSuspended = (body: JsonMap): JsonMap => leftOut(leftOut(body, "suspendedReason"), "suspensionReason")

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)

const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
