/** Folds an envelope's records into the documents they say there are. */
import { partMembers, partValue } from "../records/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import {
  agentTarget,
  type DraftDocument,
  ENVELOPE_VERSIONS,
  type EnvelopeDocument,
  envelopeProfileMembers,
  ENVELOPES,
  envelopeUnique,
  unitTarget,
  type VersionDocument,
  versionId
} from "./document.ts"

/** Kinds of envelopes' records whose parts the fold reads. */
export const envelopeKindsWithParts: ReadonlyArray<string> = [
  "envelope.drafted",
  "envelope.published",
  "envelope.withdrawn"
]

/** The document after the first `envelope.drafted` of an envelope. */
export const foldEnvelopeBegun = (record: ReplayRecord): ExpectedDocument => {
  const id = String(record.body["envelope_id"])
  const agentId = text(record.body["agent_id"])
  const profile = partMembers(record.parts.get("profile"))
  const orgUnit = profile.state === "known" ? text(profile.members["org_unit"]) : null
  const isLost = profile.state !== "known"
  const body: EnvelopeDocument = {
    agentId,
    orgUnit,
    name: profile.state === "known" ? String(profile.members["name"]) : id,
    // Of an org unit whose name is gone only the document knows the key.
    target: agentId !== null ? agentTarget(agentId) : orgUnit === null ? "" : unitTarget(orgUnit),
    withdrawn: false,
    live: null,
    shadow: null,
    latest: 0,
    draft: null
  }
  const unknown = profile.state === "known" ? [] : profile.state === "erased" ? ["target"] : [...envelopeProfileMembers]
  const empty: ExpectedDocument = {
    collection: ENVELOPES,
    id,
    body,
    unique: isLost && agentId === null ? {} : envelopeUnique(body),
    unknown,
    erased: profile.state === "erased" ? ["name", "orgUnit"] : [],
    personal: [...envelopeProfileMembers, "draft", "withdrawalReason"]
  }
  return foldEnvelopeDrafted(empty, record)
}

/** The document after a later `envelope.drafted`. */
export const foldEnvelopeDrafted = (document: ExpectedDocument, { body, parts }: ReplayRecord): ExpectedDocument => {
  const envelope = partMembers(parts.get("envelope"))
  const draft: DraftDocument = {
    revision: Number(body["revision"]),
    version: Number(body["version"]),
    digest: String(body["digest"]),
    authors: (body["authors"] ?? []) as ReadonlyArray<string>,
    envelope: envelope.state === "known" ? envelope.members : null
  }
  const isLost = envelope.state !== "known" && envelope.state !== "erased"
  return {
    ...document,
    body: { ...document.body, draft },
    unknown: [...document.unknown.filter((name) => name !== "draft"), ...(isLost ? ["draft"] : [])]
  }
}

/**
 * The document after `envelope.published`: a version on trial replaces the one before it there; a version in force ends
 * the trial too.
 */
export const foldEnvelopePublished = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument => {
  const version = Number(body["version"])
  const trial = body["mode"] === "shadow"
  return {
    ...document,
    body: {
      ...(trial ? document.body : withoutReason(document.body)),
      latest: version,
      draft: null,
      ...(trial ? { shadow: version } : { live: version, shadow: null, withdrawn: false })
    },
    unknown: document.unknown.filter((name) => name !== "draft" && (trial || name !== "withdrawalReason")),
    erased: document.erased.filter((name) => trial || name !== "withdrawalReason")
  }
}

/** The document after `envelope.withdrawn`: a trial without anything in force only ends. */
export const foldEnvelopeWithdrawn = (document: ExpectedDocument, { parts }: ReplayRecord): ExpectedDocument => {
  const reason = partValue(parts.get("reason"))
  const others = (names: ReadonlyArray<string>) => names.filter((name) => name !== "withdrawalReason")
  const isShown = reason.state === "known" || reason.state === "absent" || reason.state === "erased"
  return {
    ...document,
    body: {
      ...withoutReason(document.body),
      ...(reason.state === "known" ? { withdrawalReason: reason.value } : {}),
      withdrawn: document.body["live"] !== null,
      shadow: null
    },
    unknown: [...others(document.unknown), ...(isShown ? [] : ["withdrawalReason"])],
    erased: [...others(document.erased), ...(reason.state === "erased" ? ["withdrawalReason"] : [])]
  }
}

const withoutReason = ({ withdrawalReason: _, ...body }: JsonMap): JsonMap => body

/** The version of a record `envelope.published`. */
export const foldVersion = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const envelope = partMembers(parts.get("envelope"))
  const version: VersionDocument = {
    envelopeId: String(body["envelope_id"]),
    version: Number(body["version"]),
    digest: String(body["digest"]),
    mode: body["mode"] === "shadow" ? "shadow" : "enforced",
    change: String(body["change"]) as VersionDocument["change"],
    authors: (body["authors"] ?? []) as ReadonlyArray<string>,
    publishedBy: String(body["writer"]),
    lintDigest: String(body["lint_digest"]),
    diffDigest: String(body["diff_digest"]),
    backtestDigest: String(body["backtest_digest"]),
    envelope: envelope.state === "known" ? (envelope.members as JsonMap) : null
  }
  return {
    collection: ENVELOPE_VERSIONS,
    id: versionId(version.envelopeId, version.version),
    body: version as unknown as JsonMap,
    unique: {},
    unknown: envelope.state === "known" || envelope.state === "erased" ? [] : ["envelope"],
    erased: envelope.state === "erased" ? ["envelope"] : [],
    personal: ["envelope"]
  }
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)
