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
  /** Never erased; `holds` states it too. */
  readonly kept?: true
}

/** The row of a kind. Spec: format 1 section 8. */
export interface KindRow {
  readonly kind: string
  readonly about: string
  /** In the order of their names. */
  readonly body: ReadonlyArray<BodyMember>
  /** In the order of their names. */
  readonly parts: ReadonlyArray<PartRow>
}

/** A required member of a body. */
export const must = <const N extends string, const T extends MemberType>(name: N, type: T) =>
  ({ name, type, required: true }) as const

/** An optional member of a body. */
export const may = <const N extends string, const T extends MemberType>(name: N, type: T) =>
  ({ name, type, required: false }) as const

/** A part, which can be erased. `maxBytes` in bytes; `holds` describes its content. */
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

/** A part that is never erased. `maxBytes` in bytes; `holds` describes its content. */
export const keptPart = (name: string, maxBytes: number, holds: string): PartRow => ({
  ...part(name, maxBytes, holds),
  kept: true
})

/** Type of an id with this prefix. */
export const id = (prefix: string) => ({ type: "id", prefix }) as const

/** Type of one of these words. */
export const choice = <const Words extends ReadonlyArray<string>>(...values: Words) =>
  ({ type: "enum", values }) as const

/** Type of a name of at most `max` characters. */
export const name = (max: number) => ({ type: "name", max }) as const

/** Type of a name that others gave, of at most `max` code points. */
export const foreignName = (max: number) => ({ type: "foreign_name", max }) as const

/** Type of a non-negative integer. */
export const count = { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER } as const
/** Version of the rules that decided. The service always states it, and replay refuses a record without it. */
export const rules = may("rules", { type: "integer", min: 1, max: 1_000_000 })
/** Says whether the owner has a name and an e-mail address. Absent where nothing changed of it. */
export const ownerComplete = may("owner_complete", { type: "boolean" })
/**
 * Member that determines which halts reach an agent, beside its id. Where it is absent, its value in an earlier record
 * still holds.
 */
export const modelIds = may("model_ids", { type: "list", of: foreignName(200), min: 0, max: 64 })

/** The optional member `parent_agent_id`. */
export const parentAgentId = may("parent_agent_id", id("agt_"))

/** Type of a time. */
export const instant = { type: "instant" } as const

/** Type of a SHA-256 in hex. */
export const hash = { type: "hash" } as const

/** The optional member `org_unit_digest`. */
export const orgUnitDigest = may("org_unit_digest", hash)

/** The required member `writer`. */
export const writer = must("writer", { type: "writer" })

/** Type of an autonomy tier. */
export const tier = choice("L0", "L1", "L2", "L3", "L4")

/** The required member `agent_id`. */
export const agentId = must("agent_id", id("agt_"))

/** One mebibyte. Unit: bytes. */
export const MIB = 1_048_576
