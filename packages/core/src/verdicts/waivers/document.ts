/** Reads a waiver out of its document, and writes it for records and for the wire. */
import type { WaiverOut } from "@flyball/contract"
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import type { ChangeSet, DocumentPut, JsonObject, PartDraft } from "../../storage/port.ts"
import { type WaiverDocument, WAIVERS } from "@flyball/rules"

/** A waiver as it was read. */
export interface StoredWaiver {
  readonly id: string
  readonly version: number
  readonly body: WaiverDocument
}

/** An act that was decided: the waiver after it, and the change. */
export interface WaiverPlan {
  readonly waiver: WaiverDocument
  readonly change: ChangeSet
}

/** Status of a waiver at a time. */
export const statusOf = ({ expiresAtMs, status }: WaiverDocument, nowMs: number): WaiverOut["status"] =>
  expiresAtMs <= nowMs ? "expired" : status

/** Puts a waiver in place of the version that was read; 0 for a new one. */
export const putWaiver = (id: string, expectedVersion: number, waiver: WaiverDocument): DocumentPut => ({
  collection: WAIVERS,
  id,
  expectedVersion,
  body: waiver as unknown as JsonObject,
  keys: { envelope_id: waiver.envelopeId }
})

/** Writes the members that the body of each record of a waiver has. */
export const waiverMembers = (
  id: string,
  { envelopeId, expiresAtMs, ruleId, version }: WaiverDocument
): JsonObject => ({
  envelope_id: envelopeId,
  expires_at: formatInstant(expiresAtMs),
  rule_id: ruleId,
  version,
  waiver_id: id
})

/** Makes the part `waiver`. */
export const waiverPart = ({ reason, unless }: WaiverDocument): PartDraft => ({
  name: "waiver",
  bytes: canonicalBytes({ reason, unless })
})

/** The waiver as the interface shows it. */
export const waiverOut = (id: string, waiver: WaiverDocument, nowMs: number): WaiverOut => ({
  id,
  envelope_id: waiver.envelopeId,
  version: waiver.version,
  rule_id: waiver.ruleId,
  status: statusOf(waiver, nowMs),
  unless: waiver.unless,
  reason: waiver.reason,
  requested_by: waiver.requestedBy,
  granted_by: waiver.grantedBy,
  expires_at: formatInstant(waiver.expiresAtMs)
})
