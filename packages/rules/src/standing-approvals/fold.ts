/** Folds the records of standing approvals into the documents that they say there are. */
import { parseInstant } from "@flyball/evidence"
import { partMembers, partValue } from "../records/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, PartContent, ReplayRecord } from "../records/record.ts"
import { boxMembers, STANDING_APPROVALS, type StandingApprovalDocument } from "./document.ts"

/** Kinds of their records whose parts the fold reads. */
export const standingKindsWithParts: ReadonlyArray<string> = ["standing_approval.proposed", "standing_approval.revoked"]

/** The document of a record `standing_approval.proposed`. */
export const foldStandingProposed = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const box = partMembers(parts.get("box"))
  const reason = text(parts.get("reason"))
  const members = box.state === "known" ? box.members : {}
  const count = Number(body["count"])
  const standing: StandingApprovalDocument = {
    agentId: String(body["agent_id"]),
    reviewId: String(body["review_id"]),
    evaluationId: String(body["evaluation_id"]),
    layers: (body["layers"] as ReadonlyArray<JsonMap>).map((layer) => ({
      digest: String(layer["digest"]),
      envelopeId: String(layer["envelope_id"]),
      version: Number(layer["version"])
    })),
    asks: body["asks"] as ReadonlyArray<number>,
    boxDigest: String(body["box_digest"]),
    action: (members["action"] ?? null) as string | null,
    args: (members["args"] ?? null) as StandingApprovalDocument["args"],
    pins: (members["pins"] ?? null) as unknown as StandingApprovalDocument["pins"],
    reason: reason.value,
    count,
    left: count,
    expiresAtMs: parseInstant(String(body["expires_at"])) ?? 0,
    status: "proposed",
    proposedBy: String(body["writer"]),
    grantedBy: null,
    revokedBy: null,
    revokeReason: null
  }
  return {
    collection: STANDING_APPROVALS,
    id: String(body["standing_approval_id"]),
    body: standing as unknown as JsonMap,
    unique: {},
    unknown: [...(isLost(box.state) ? boxMembers : []), ...(isLost(reason.state) ? ["reason"] : [])],
    erased: [...(box.state === "erased" ? boxMembers : []), ...(reason.state === "erased" ? ["reason"] : [])],
    personal: [...boxMembers, "reason", "revokeReason"]
  }
}

/** The document after `standing_approval.granted`. */
export const foldStandingGranted = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument =>
  changed(document, { status: "granted", grantedBy: String(body["writer"]) })

/** The document after `standing_approval.used`. */
export const foldStandingUsed = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument =>
  changed(document, { left: Number(body["left"]) })

/** The document after `standing_approval.revoked`. */
export const foldStandingRevoked = (document: ExpectedDocument, { body, parts }: ReplayRecord): ExpectedDocument => {
  const reason = text(parts.get("reason"))
  const next = changed(document, {
    status: "revoked",
    revokedBy: String(body["writer"]),
    revokeReason: reason.value
  })
  return {
    ...next,
    unknown: [...next.unknown, ...(isLost(reason.state) ? ["revokeReason"] : [])],
    erased: [...next.erased, ...(reason.state === "erased" ? ["revokeReason"] : [])]
  }
}

const changed = (document: ExpectedDocument, change: Partial<StandingApprovalDocument>): ExpectedDocument => ({
  ...document,
  body: { ...document.body, ...(change as JsonMap) }
})

const text = (part: PartContent | undefined): { readonly state: string; readonly value: string | null } => {
  const read = partValue(part)
  return { state: read.state, value: read.state === "known" ? textOrNull(read.value) : null }
}
const textOrNull = (value: Json): string | null => (typeof value === "string" ? value : null)
const isLost = (state: string): boolean => state === "withheld" || state === "missing" || state === "unreadable"
