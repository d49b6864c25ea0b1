/** Plans an alarm of behaviour: the record, the event, and what the response policy makes of it. Pure. */
import type { DriftAlarm } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, DocumentPut, JsonObject } from "../../storage/port.ts"
import type { ActivationPlan } from "../../verdicts/kill/plan-activate.ts"

/** Writer of alarms, and of what the response policy makes of them. */
export const DRIFT_WRITER = "policy:drift"

/** Working state of those who are followed: where the epoch of an agent begins, and in which chain. */
export const DRIFT_EPOCHS = "drift_epochs"

/** An alarm with the epoch that it ends. */
export interface AlarmInput {
  readonly agentId: string
  readonly fromSeq: number
  readonly alarm: DriftAlarm
  /** The put of the next epoch. */
  readonly next: DocumentPut
  /** The documents that the response was chosen by. */
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/**
 * Decides what an alarm changes: it is recorded, reported, and ends its epoch.
 *
 * - `activated`: null where the policy has no row, or one that only notifies, and while an earlier alarm's holds.
 */
export const planAlarm = (
  { agentId, alarm, expects, fromSeq, next }: AlarmInput,
  activated: ActivationPlan | null
): ChangeSet => {
  const facts = {
    activation_id: activated?.activationId ?? null,
    agent_id: agentId,
    as_of_seq: alarm.asOfSeq,
    dimension: alarm.dimension,
    e_value: alarm.eValue,
    epoch_from_seq: fromSeq,
    runs: alarm.runs,
    writer: DRIFT_WRITER
  }
  const change = activated?.change
  return {
    expects: [...expects, ...(change?.expects ?? [])],
    puts: [next, ...(change?.puts ?? [])],
    records: [
      { kind: "drift.alarmed", agentId, body: omitNullish(facts) as JsonObject, parts: [] },
      ...(change?.records ?? [])
    ],
    events: [event("drift.alarmed", facts), ...(change?.events ?? [])]
  }
}
