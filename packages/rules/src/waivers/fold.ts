/** Folds a waiver's records into the document they say there is. */
import { parseInstant } from "@flyball/evidence"
import { partMembers } from "../records/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { type WaiverDocument, waiverMembers, WAIVERS } from "./document.ts"

/** Kinds of waivers' records whose parts the fold reads. */
export const waiverKindsWithParts: ReadonlyArray<string> = ["waiver.requested", "waiver.granted"]

/** The document after `waiver.requested` or `waiver.granted`: both say all of it. */
export const foldWaiver = ({ body, kind, parts }: ReplayRecord): ExpectedDocument => {
  const reported = partMembers(parts.get("waiver"))
  const isGranted = kind === "waiver.granted"
  const waiver: WaiverDocument = {
    envelopeId: String(body["envelope_id"]),
    version: Number(body["version"]),
    ruleId: String(body["rule_id"]),
    expiresAtMs: parseInstant(String(body["expires_at"])) ?? 0,
    requestedBy: String(isGranted ? body["requested_by"] : body["writer"]),
    grantedBy: isGranted ? String(body["writer"]) : null,
    status: isGranted ? "granted" : "requested",
    unless: reported.state === "known" ? (reported.members["unless"] as ReadonlyArray<Json>) : null,
    reason: reported.state === "known" ? String(reported.members["reason"]) : null
  }
  const isLost = reported.state !== "known" && reported.state !== "erased"
  return {
    collection: WAIVERS,
    id: String(body["waiver_id"]),
    body: waiver as unknown as JsonMap,
    unique: {},
    unknown: isLost ? waiverMembers : [],
    erased: reported.state === "erased" ? waiverMembers : [],
    personal: waiverMembers
  }
}
