/** Plans the release of a breaker that tripped. Pure. */
import { BreakerNotTripped } from "@flyball/contract"
import type { BreakerDocument } from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { reasonPart } from "../../registry/agents/parts.ts"
import { event } from "../../storage/event.ts"
import type { AsOf } from "../../storage/port.ts"
import { breakerPut, epochPut, type StoredBreaker, type BreakerPlan } from "./stored-breaker.ts"

/**
 * Decides what releasing a breaker would change: it is armed again, with a window that begins with the record.
 *
 * - Fails: `BreakerNotTripped` where it is armed.
 */
export const planRelease = (
  { body, id, version }: StoredBreaker,
  reason: string | null,
  writer: Writer,
  asOf: AsOf
): Result.Result<BreakerPlan, BreakerNotTripped> => {
  if (body.trip === null) return Result.fail(new BreakerNotTripped())
  const breaker: BreakerDocument = { ...body, sinceSeq: asOf.seq, trip: null }
  const { agentId, metric } = breaker
  return Result.succeed({
    breaker,
    change: {
      puts: [breakerPut(id, version, breaker), epochPut],
      records: [
        {
          kind: "breaker.released",
          agentId,
          body: { agent_id: agentId, as_of_ms: asOf.ms, as_of_seq: asOf.seq, breaker_id: id, writer: writer.id },
          parts: reasonPart(reason)
        }
      ],
      events: [event("breaker.released", { breaker_id: id, agent_id: agentId, metric, writer: writer.id })]
    }
  })
}
