/** A witnessed decision as the interface shows it, read back from its record. */
import { DecisionOut, type LocalVerdictOut, type UsageOut } from "@flyball/contract"
import type { JsonValue, RecordView } from "@flyball/evidence"
import type { StoredRecord } from "../../storage/port.ts"
import { recordHash } from "../../foundation/ids.ts"

/** A record and its body. */
export interface ReadDecision {
  readonly record: StoredRecord
  readonly view: RecordView
}

/** Converts an absent member of a body to null. */
const orNull = (value: JsonValue | undefined): JsonValue => value ?? null

/**
 * The decision of one record, with its outcome from another where there is one. Bodies were checked when they were
 * written; here they are shown as they are.
 */
export const decisionOut = (id: string, { record, view }: ReadDecision, settled: ReadDecision | null): DecisionOut => {
  const { body } = view
  const around: { readonly [member: string]: unknown } = {
    id,
    seq: record.seq,
    record_hash: recordHash(record.hash),
    recorded_at: view.at,
    usage: usage(body["usage"]),
    local_verdict: localVerdict(body["local_verdict"]),
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
  }
  return Object.fromEntries(
    members.map((name) => [name, name in around ? around[name] : orNull(body[name])])
  ) as unknown as DecisionOut
}

/** The members of the answer. What is not computed here is in the body, by the annotations of the contract. */
const members = Object.keys(DecisionOut.fields)

/** Digests travel with their prefix. */
const localVerdict = (value: JsonValue | undefined): LocalVerdictOut | null => {
  if (value === undefined || value === null) return null
  const verdict = value as unknown as LocalVerdictOut
  return { ...verdict, layers: verdict.layers.map((one) => ({ ...one, digest: `sha256:${one.digest}` })) }
}

/** Members of a response are always there; what is absent is null. */
const usage = (value: JsonValue | undefined): UsageOut | null => {
  if (value === undefined || value === null) return null
  const { cost_micro_usd = null, input_tokens = null, output_tokens = null } = value as Partial<UsageOut>
  return { input_tokens, output_tokens, cost_micro_usd }
}
