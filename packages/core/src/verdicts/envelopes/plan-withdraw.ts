/** Plans the withdrawal of an envelope. Pure. */
import { EnvelopeNotInForce } from "@flyball/contract"
import { Result } from "effect"
import { reasonPart } from "../../registry/agents/parts.ts"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import type { DocumentPut } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { EnvelopeDocument } from "@flyball/rules"
import { putEnvelope, type StoredEnvelope, type EnvelopePlan } from "./stored-envelope.ts"

/**
 * Decides what withdrawing an envelope would change: nothing is in force for its target any more, and everything is
 * denied. One person does it, since it only tightens.
 *
 * `lowered`: the events of the agents that act at a lower tier without it.
 *
 * - Fails: `EnvelopeNotInForce` when nothing is in force or on trial.
 */
export const planWithdraw = (
  { body, id, version }: StoredEnvelope,
  reason: string | null,
  writer: Writer,
  epoch: DocumentPut,
  lowered: ReadonlyArray<EventDraft>
): Result.Result<EnvelopePlan, EnvelopeNotInForce> => {
  if ((body.live === null || body.withdrawn) && body.shadow === null) return Result.fail(new EnvelopeNotInForce())
  const envelope: EnvelopeDocument = {
    ...withoutReason(body),
    ...(reason === null ? {} : { withdrawalReason: reason }),
    withdrawn: body.live !== null,
    shadow: null
  }
  return Result.succeed({
    envelope,
    change: {
      puts: [putEnvelope(id, version, envelope), epoch],
      records: [
        {
          kind: "envelope.withdrawn",
          agentId: body.agentId,
          body: { envelope_id: id, writer: writer.id },
          parts: reasonPart(reason)
        }
      ],
      events: envelope.withdrawn ? lowered : []
    }
  })
}

/** The envelope without what was said with its last withdrawal. */
export const withoutReason = ({ withdrawalReason: _, ...body }: EnvelopeDocument): EnvelopeDocument => body
