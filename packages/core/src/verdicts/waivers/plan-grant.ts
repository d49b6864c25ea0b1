/** Plans the grant of a waiver, by another person than requested it. Pure. */
import { SecondApproverRequired, WaiverNotOpen } from "@flyball/contract"
import { Result } from "effect"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import type { DocumentPut } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { WaiverDocument } from "@flyball/rules"
import { type StoredWaiver, type WaiverPlan, statusOf, putWaiver, waiverMembers, waiverPart } from "./document.ts"

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
      puts: [putWaiver(id, version, waiver), epoch],
      records: [
        {
          kind: "waiver.granted",
          agentId,
          body: { ...waiverMembers(id, waiver), requested_by: body.requestedBy, writer: writer.id },
          parts: [waiverPart(waiver)]
        }
      ]
    }
  })
}
