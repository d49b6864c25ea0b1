/** A witnessed decision as the interface shows it, read back from its record. */
import type { DecisionOut, UsageOut } from "@flyball/contract"
import type { JsonValue, RecordView } from "@flyball/evidence"
import type { StoredRecord } from "../../storage/port.ts"
import { recordHash } from "../../foundation/record-hash.ts"

/** A record with what it says. */
export interface ReadDecision {
  readonly record: StoredRecord
  readonly view: RecordView
}

/** What absent members of a body are. */
const orNull = (value: JsonValue | undefined): JsonValue => value ?? null

/**
 * The decision of one record, with its outcome from another where there is one. Bodies were checked when they were
 * written; here they are shown as they are.
 */
export const decisionOut = (id: string, { record, view }: ReadDecision, settled: ReadDecision | null): DecisionOut => {
  const { body } = view
  return {
    id,
    agent_id: body["agent_id"],
    seq: record.seq,
    record_hash: recordHash(record.hash),
    recorded_at: view.at,
    client_ref: body["client_ref"],
    kind: body["kind"],
    action: body["action"],
    tool_server: orNull(body["tool_server"]),
    run_id: orNull(body["run_id"]),
    step: orNull(body["step"]),
    observed_at: orNull(body["observed_at"]),
    status: body["status"],
    evaluation_id: orNull(body["evaluation_id"]),
    approval_id: orNull(body["approval_id"]),
    model: orNull(body["model"]),
    usage: usage(body["usage"]),
    latency_ms: orNull(body["latency_ms"]),
    mode: orNull(body["mode"]),
    decided_by: orNull(body["decided_by"]),
    writer_seq: orNull(body["writer_seq"]),
    writer: body["writer"],
    agent_status: body["agent_status"],
    parts: view.parts.map((part) => part.name),
    settled:
      settled === null
        ? null
        : {
            seq: settled.record.seq,
            record_hash: recordHash(settled.record.hash),
            recorded_at: settled.view.at,
            status: settled.view.body["status"],
            usage: usage(settled.view.body["usage"]),
            latency_ms: orNull(settled.view.body["latency_ms"]),
            writer: settled.view.body["writer"]
          }
  } as DecisionOut
}

/** Members of a response are always there; what is absent is null. */
const usage = (value: JsonValue | undefined): UsageOut | null => {
  if (value === undefined || value === null) return null
  const { cost_micro_usd = null, input_tokens = null, output_tokens = null } = value as Partial<UsageOut>
  return { input_tokens, output_tokens, cost_micro_usd }
}
