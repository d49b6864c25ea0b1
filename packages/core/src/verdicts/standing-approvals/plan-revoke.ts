/** Plans the revocation of a standing approval. Pure. */
import { StandingApprovalNotOpen } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { type StandingApprovalDocument, standingStatus } from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { type StoredStanding, type StandingPlan, putStanding } from "./document.ts"

/** Decides what revoking one would change. Fails: `StandingApprovalNotOpen` where it approves nothing any more. */
export const planRevoke = (
  { body, id, version }: StoredStanding,
  nowMs: number,
  reason: string | null,
  writer: Writer
): Result.Result<StandingPlan, StandingApprovalNotOpen> => {
  const status = standingStatus(body, nowMs)
  if (status !== "proposed" && status !== "granted") return Result.fail(new StandingApprovalNotOpen({ status }))
  const standing: StandingApprovalDocument = {
    ...body,
    status: "revoked",
    revokedBy: writer.id,
    revokeReason: reason
  }
  return Result.succeed({
    standing,
    change: {
      puts: [putStanding(id, version, standing)],
      records: [
        {
          kind: "standing_approval.revoked",
          agentId: body.agentId,
          body: { agent_id: body.agentId, standing_approval_id: id, writer: writer.id },
          parts: reason === null ? [] : [{ name: "reason", bytes: canonicalBytes(reason) }]
        }
      ]
    }
  })
}
