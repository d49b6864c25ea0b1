/** Envelopes and their versions as state. Plain data. */
import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import type { JsonMap } from "../records/record.ts"

/** Collection of envelopes, each with its draft. */
export const ENVELOPES = "envelopes"

/** Collection of published versions. */
export const ENVELOPE_VERSIONS = "envelope_versions"

/** The draft: the text that would be published next. Spec: format 1 section 8, `envelope.drafted`; decision 0025. */
export type DraftDocument = {
  /** Counts the drafts of this envelope: it identifies the record of this draft. */
  readonly revision: number
  readonly version: number
  readonly digest: string
  /** Writers of this draft, none of whom can approve what it newly allows. */
  readonly authors: ReadonlyArray<string>
  /** Null once its part was erased. */
  readonly envelope: JsonMap | null
}

/** An envelope: its agent or org unit, the version in force, and the draft. Spec: decision 0025. */
export type EnvelopeDocument = {
  readonly agentId: string | null
  /** Null for an agent's, and once the profile was erased. */
  readonly orgUnit: string | null
  /** The envelope's id once the profile was erased. */
  readonly name: string
  /** For whom it is, as a look-up key; stays when the profile is erased, so that erasing a name loosens nothing. */
  readonly target: string
  readonly withdrawn: boolean
  /** The reason of the last withdrawal; absent where none was given, once it was erased, and after a publication. */
  readonly withdrawalReason?: string
  /** The version in force; while `withdrawn`, the one that was. */
  readonly live: number | null
  readonly shadow: number | null
  /** The highest version that was published. */
  readonly latest: number
  readonly draft: DraftDocument | null
}

/**
 * A published version. Nothing of it changes, but erasing its part leaves `envelope` null, and then nothing can be
 * evaluated under it. Spec: format 1 section 8, `envelope.published`; decision 0025.
 */
export type VersionDocument = {
  readonly envelopeId: string
  readonly version: number
  readonly digest: string
  readonly mode: "enforced" | "shadow"
  readonly change: "equal" | "tightening_only" | "loosens" | "unknown"
  readonly authors: ReadonlyArray<string>
  readonly publishedBy: string
  readonly lintDigest: string
  readonly diffDigest: string
  readonly backtestDigest: string
  readonly envelope: JsonMap | null
}

/** Members of an envelope that come from the part `profile`. */
export const envelopeProfileMembers = ["name", "orgUnit", "target"] as const

/** The look-up key of an agent's envelope. */
export const agentTarget = (agentId: string): string => `agent:${agentId}`

/** The look-up key of an org unit's envelope: a digest of its name, which is personal data. Spec: decision 0006. */
export const unitTarget = (orgUnit: string): string => `unit:${toHex(portableCrypto.sha256(utf8(orgUnit)))}`

/** Unique look-up keys of an envelope: an agent or org unit has one. */
export const envelopeUnique = ({ target }: Pick<EnvelopeDocument, "target">): { readonly target: string } => ({
  target
})

/** The id of a version's document; ids of one envelope sort by version. */
export const versionId = (envelopeId: string, version: number): string =>
  `${envelopeId}.${String(version).padStart(7, "0")}`
