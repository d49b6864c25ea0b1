/** Plans the change of a breaker. Pure. */
import type { BreakerDocument } from "@flyball/rules"
import type { Writer } from "../../foundation/writer.ts"
import type { AsOf } from "../../storage/port.ts"
import { breakerPut, epochPut, type StoredBreaker, type BreakerPlan } from "./stored-breaker.ts"
import { wholeBody } from "./plan-arm.ts"

/** Input of a change; absent members stay as they are. */
export type ChangeCommand = Partial<Pick<BreakerDocument, "confidenceBp" | "enabled" | "mode" | "params" | "response">>

/**
 * Decides what changing a breaker would change. Its window restarts; a tripped one stays tripped. Null where the
 * command says what holds already: a window that restarts with each repetition would never trip.
 */
export const planChange = (
  { body, id, version }: StoredBreaker,
  command: ChangeCommand,
  writer: Writer,
  asOf: AsOf
): BreakerPlan | null => {
  const breaker: BreakerDocument = { ...body, ...command, sinceSeq: asOf.seq }
  if (isSame(body, breaker)) return null
  return {
    breaker,
    change: {
      puts: [breakerPut(id, version, breaker), epochPut],
      records: [
        {
          kind: "breaker.changed",
          agentId: body.agentId,
          body: wholeBody(id, breaker, asOf, writer),
          parts: []
        }
      ]
    }
  }
}

const isSame = (one: BreakerDocument, other: BreakerDocument): boolean =>
  one.confidenceBp === other.confidenceBp &&
  one.enabled === other.enabled &&
  one.mode === other.mode &&
  one.response === other.response &&
  Object.keys({ ...one.params, ...other.params }).every((name) => one.params[name] === other.params[name])
