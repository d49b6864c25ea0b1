/** Plans the request of a waiver. Pure. */
import type { Writer } from "../../foundation/writer.ts"
import type { WaiverDocument } from "@flyball/rules"
import { type WaiverPlan, putWaiver, waiverMembers, waiverPart } from "./document.ts"

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
      puts: [putWaiver(id, 0, waiver)],
      records: [
        {
          kind: "waiver.requested",
          agentId,
          body: { ...waiverMembers(id, waiver), writer: writer.id },
          parts: [waiverPart(waiver)]
        }
      ]
    }
  }
}
