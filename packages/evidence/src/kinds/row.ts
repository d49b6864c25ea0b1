/** Type of a row of the catalogue of record kinds, and the vocabulary that rows are written in. */
import type { MemberType } from "./members.ts"

/** A member of a body. */
export interface BodyMember {
  readonly name: string
  readonly type: MemberType
  /** An optional member is left out when there is nothing to say; it is never null. */
  readonly required: boolean
}

/** A member of a part that is a JSON object. */
export interface PartMember {
  readonly name: string
  readonly required: boolean
}

/** A part that records of a kind may carry. */
export interface PartRow {
  readonly name: string
  /** `json`: the RFC 8785 form where the value has one, else the bytes received. */
  readonly format: "json"
  readonly maxBytes: number
  readonly holds: string
  /** The members of its JSON object, in the order of their names; absent where it holds anything else. */
  readonly members?: ReadonlyArray<PartMember>
  /** Never erased: `holds` says so too. */
  readonly kept?: true
}

/** The row of a kind. */
export interface KindRow {
  readonly kind: string
  readonly about: string
  /** In the order of their names. */
  readonly body: ReadonlyArray<BodyMember>
  /** In the order of their names. */
  readonly parts: ReadonlyArray<PartRow>
}

export const must = (name: string, type: MemberType): BodyMember => ({ name, type, required: true })
export const may = (name: string, type: MemberType): BodyMember => ({ name, type, required: false })
export const part = (name: string, maxBytes: number, holds: string): PartRow => ({
  name,
  format: "json",
  maxBytes,
  holds
})
/**
 * A part that is a JSON object of these members: a name with `?` may be absent, and one may continue with the shape of
 * its value, as in `rules: [...]`. `more` follows in the sentence.
 */
export const objectPart = (name: string, maxBytes: number, members: ReadonlyArray<string>, more = ""): PartRow => ({
  ...part(name, maxBytes, `\`{${members.join(", ")}}\`${more}`),
  members: members.map((member) => {
    const [, called, optional] = /^([a-z_]+)(\??)/.exec(member)!
    return { name: called!, required: optional === "" }
  })
})
export const keptPart = (name: string, maxBytes: number, holds: string): PartRow => ({
  ...part(name, maxBytes, holds),
  kept: true
})
export const id = (prefix: string): MemberType => ({ type: "id", prefix })
export const choice = (...values: ReadonlyArray<string>): MemberType => ({ type: "enum", values })
export const name = (max: number): MemberType => ({ type: "name", max })
export const count: MemberType = { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER }
/** By which rules the service decided; absent means 1. */
export const rules = may("rules", { type: "integer", min: 1, max: 1_000_000 })
/** Whether the owner has a name and an e-mail address. Absent where the record is older than the member. */
export const ownerComplete = may("owner_complete", { type: "boolean" })
/**
 * Member that determines which halts reach an agent, beside its id. Absent where the record is older than the members:
 * what an earlier record said of them still holds.
 */
export const modelIds = may("model_ids", { type: "list", of: name(200), min: 0, max: 64 })
export const parentAgentId = may("parent_agent_id", id("agt_"))
export const instant: MemberType = { type: "instant" }
export const hash: MemberType = { type: "hash" }
export const orgUnitDigest = may("org_unit_digest", hash)
export const writer = must("writer", { type: "writer" })
export const tier = choice("L0", "L1", "L2", "L3", "L4")
export const agentId = must("agent_id", id("agt_"))
export const MIB = 1_048_576
