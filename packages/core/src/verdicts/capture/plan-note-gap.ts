/** Plans the note of a capture gap. */
import { type CaptureGapIn, detailItem, InvalidInput } from "@flyball/contract"
import { Result } from "effect"
import type { ChangeSet } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"

/**
 * Decides what noting a gap would change: a record that says decisions are missing, how many and why.
 *
 * - Fails: `InvalidInput` when the gap ends before it begins.
 * - Spec: api "decisions, chain, evidence", POST /agents/{id}/capture-gaps.
 */
export const planNoteGap = (
  agentId: string,
  gap: CaptureGapIn,
  writer: Writer
): Result.Result<ChangeSet, InvalidInput> =>
  gap.to < gap.from
    ? Result.fail(
        new InvalidInput({
          detail: [detailItem(["body", "to"], "value_error", "Expected a time not before `from`", gap.to)]
        })
      )
    : Result.succeed({
        turn: { class: "capture", key: writer.id },
        records: [
          {
            kind: "capture.gap",
            agentId,
            body: {
              agent_id: agentId,
              count: gap.count,
              from: gap.from,
              reason: gap.reason,
              to: gap.to,
              writer: writer.id
            },
            parts: []
          }
        ],
        events: [
          event("capture.gap", {
            agent_id: agentId,
            count: gap.count,
            from: gap.from,
            to: gap.to,
            reason: gap.reason,
            writer: writer.id
          })
        ]
      })
