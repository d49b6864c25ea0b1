/** Evaluations use standing approvals up. */
import { STANDING_APPROVALS, whyNotApproved } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { Storage, type RecordDraft } from "../../storage/port.ts"
import { EvaluationSteps, type StandingApprovalOf } from "../evaluations/ports.ts"
import { putStanding, storedStanding, type StoredStanding } from "./document.ts"
import type { Writer } from "../../foundation/writer.ts"

/** The steps of an evaluation with the standing approvals of its agent; all else stays as it was provided. */
export const standingApprovalSteps: Layer.Layer<never, never, Storage> = Layer.effect(
  EvaluationSteps,
  Effect.gen(function* () {
    const others = yield* EvaluationSteps
    const storage = yield* Storage
    return {
      ...others,
      standingApprovals: (agentId) =>
        Effect.map(storage.find(STANDING_APPROVALS, "agent_id", agentId), (documents) =>
          documents
            .map(storedStanding)
            .filter(({ body }) => body.status === "granted" && body.left > 0)
            .map((stored): StandingApprovalOf => {
              const { body, id, version } = stored
              return {
                id,
                left: body.left,
                endsAtMs: body.expiresAtMs,
                approves: (awaiting, left) => whyNotApproved({ ...body, left }, awaiting) === null,
                used: (left, evaluationId, writer) => standingUsed(stored, left, evaluationId, writer),
                put: (left) => putStanding(id, version, { ...body, left })
              }
            })
        )
    }
  })
)

/** The record that one evaluation used it up by one. */
const standingUsed = (
  { id, body }: Pick<StoredStanding, "body" | "id">,
  left: number,
  evaluationId: string,
  writer: Writer
): RecordDraft => ({
  kind: "standing_approval.used",
  agentId: body.agentId,
  body: {
    agent_id: body.agentId,
    evaluation_id: evaluationId,
    left,
    standing_approval_id: id,
    writer: writer.id
  },
  parts: []
})
