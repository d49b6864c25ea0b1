/** Plans the arming of a breaker. Pure. */
import { canonicalBytes } from "@flyball/evidence"
import { type BreakerDocument, paramsToBody } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, JsonObject, JsonValue } from "../../storage/port.ts"
import { breakerPut, epochPut, type BreakerPlan } from "./stored-breaker.ts"

/** Input for arming a breaker. */
export type ArmCommand = Omit<BreakerDocument, "createdBy" | "lastActivationId" | "sinceSeq" | "trip">

/**
 * Decides what arming a breaker would change. Its window begins with the record. `except`: runs that did not count
 * where good runs set its threshold.
 */
export const planArm = (
  id: string,
  command: ArmCommand,
  { except, writer }: { readonly writer: Writer; readonly except: ReadonlyArray<string> },
  asOf: AsOf
): BreakerPlan => {
  const breaker: BreakerDocument = {
    ...command,
    createdBy: writer.id,
    sinceSeq: asOf.seq,
    trip: null,
    lastActivationId: null
  }
  const { agentId, enabled, metric, mode } = breaker
  return {
    breaker,
    change: {
      puts: [breakerPut(id, 0, breaker), epochPut],
      records: [
        {
          kind: "breaker.armed",
          agentId,
          body: wholeBody(id, breaker, asOf, writer),
          parts: breaker.goodRuns === undefined ? [] : [{ name: "good_runs", bytes: canonicalBytes({ except }) }]
        }
      ],
      events: [event("breaker.armed", { breaker_id: id, agent_id: agentId, metric, mode, enabled, writer: writer.id })]
    }
  }
}

/** Writes the body of a record that states a whole breaker. */
export const wholeBody = (id: string, breaker: BreakerDocument, asOf: AsOf, writer: Writer): JsonObject =>
  omitNullish({
    agent_id: breaker.agentId,
    as_of_ms: asOf.ms,
    as_of_seq: asOf.seq,
    breaker_id: id,
    confidence_bp: breaker.confidenceBp,
    enabled: breaker.enabled,
    good_runs:
      breaker.goodRuns === undefined
        ? null
        : { from_seq: breaker.goodRuns.fromSeq, runs: breaker.goodRuns.runs, to_seq: breaker.goodRuns.toSeq },
    max_false_stop_bp: breaker.maxFalseStopBp,
    metric: breaker.metric,
    mode: breaker.mode,
    name: breaker.name,
    params: paramsToBody(breaker.params) as unknown as JsonValue,
    response: breaker.response,
    writer: writer.id
  }) as JsonObject
