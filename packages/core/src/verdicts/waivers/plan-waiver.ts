/** Plans the acts of a waiver: requested by one person, granted by another. Pure. */
import { SecondApproverRequired, WaiverNotOpen, type WaiverOut } from "@flyball/contract"
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import type { ChangeSet, DocumentPut, JsonObject, PartDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
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

/**
 * Decides what asking for a waiver would change. Nothing is excepted by it yet. `agentId`: whose envelope it is, for
 * the index.
 */
export const planRequest = (
  id: string,
  requested: Pick<WaiverDocument, "envelopeId" | "expiresAtMs" | "reason" | "ruleId" | "unless" | "version">,
  agentId: string | null,
  writer: Writer
): WaiverPlan => {
  const waiver: WaiverDocument = { ...requested, requestedBy: writer.id, grantedBy: null, status: "requested" }
  return {
    waiver,
    change: {
      puts: [put(id, 0, waiver)],
      records: [
        {
          kind: "waiver.requested",
          agentId,
          body: { ...reported(id, waiver), writer: writer.id },
          parts: [part(waiver)]
        }
      ]
    }
  }
}

/**
 * Decides what granting a waiver would change.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC. `live`: the version in force; null: none. `person`: how the writer
 *   relates to the requester.
 * - Fails: `WaiverNotOpen` where it was granted or erased, its time is past or its version is not in force;
 *   `SecondApproverRequired` where the person who requested it, or may have, grants it.
 */
export const planGrant = (
  { body, id, version }: StoredWaiver,
  live: number | null,
  nowMs: number,
  agentId: string | null,
  writer: Writer,
  person: SecondPerson,
  epoch: DocumentPut
): Result.Result<WaiverPlan, SecondApproverRequired | WaiverNotOpen> => {
  const status = statusOf(body, nowMs)
  if (status !== "requested" || live !== body.version || body.unless === null)
    return Result.fail(new WaiverNotOpen({ status }))
  if (person !== "another") {
    const sentence = `The rule ${body.ruleId} would not hold for the inputs that the waiver excepts.`
    return Result.fail(
      new SecondApproverRequired({
        change: "loosens",
        sentence: person === "perhaps_them" ? `${sentence} ${ERASED_AUTHOR}` : sentence
      })
    )
  }
  const waiver: WaiverDocument = { ...body, grantedBy: writer.id, status: "granted" }
  return Result.succeed({
    waiver,
    change: {
      puts: [put(id, version, waiver), epoch],
      records: [
        {
          kind: "waiver.granted",
          agentId,
          body: { ...reported(id, waiver), requested_by: body.requestedBy, writer: writer.id },
          parts: [part(waiver)]
        }
      ]
    }
  })
}

/** Status of a waiver at a time. */
export const statusOf = ({ expiresAtMs, status }: WaiverDocument, nowMs: number): WaiverOut["status"] =>
  expiresAtMs <= nowMs ? "expired" : status

const put = (id: string, expectedVersion: number, waiver: WaiverDocument): DocumentPut => ({
  collection: WAIVERS,
  id,
  expectedVersion,
  body: waiver as unknown as JsonObject,
  keys: { envelope_id: waiver.envelopeId }
})

const reported = (id: string, { envelopeId, expiresAtMs, ruleId, version }: WaiverDocument): JsonObject => ({
  envelope_id: envelopeId,
  expires_at: formatInstant(expiresAtMs),
  rule_id: ruleId,
  version,
  waiver_id: id
})

const part = ({ reason, unless }: WaiverDocument): PartDraft => ({
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
