/** An evaluation as the interface shows it, from what its record holds. */
import { type Evaluation, VERDICT_VALID_MS } from "@flyball/contract"
import { formatInstant, fromUtf8 } from "@flyball/evidence"
import {
  decisionOf,
  killStateOf,
  readActivations,
  readSide,
  type RecordedSide,
  shownSignals,
  type JsonMap
} from "@flyball/rules"
import { recordHash } from "../../foundation/ids.ts"
import { namedSignal, type Ready, renderTrace } from "@flyball/envelope"
import { reasonOf, lostWords, tiersOf } from "./explanation-words.ts"
import { innermost } from "./plan-evaluate.ts"

/** A record of an evaluation with what is left of its parts. */
export interface EvaluationRecord {
  readonly seq: number
  readonly hash: Uint8Array
  readonly atMs: number
  readonly body: JsonMap
  readonly parts: ReadonlyMap<string, Uint8Array>
}

/**
 * `ready` is made of the layers in force then; null where their content is gone: the trace then ends where it would
 * name rules.
 */
export const evaluationOut = (record: EvaluationRecord, ready: Ready | null): Evaluation => {
  const { atMs, body, hash, parts, seq } = record
  const side = readSide(body)
  const envelope = innermost(side.layers)
  const advice = jsonOf(parts.get("advice")) as JsonMap | null
  const signalsPart = parts.get("signals")
  const signals = signalsPart === undefined ? null : shownSignals(signalsPart)
  const { effective, tier } = tiersOf(body)
  const { activation } = killStateOf(readActivations(body["activations"]))
  const shadow = body["shadow"] === undefined ? null : readSide(body["shadow"] as JsonMap)
  const reason = reasonOf(record, ready)
  return {
    id: String(body["evaluation_id"]),
    agent_id: String(body["agent_id"]),
    envelope_id: envelope?.envelopeId ?? null,
    envelope_version: envelope?.version ?? null,
    client_ref: String(body["client_ref"]),
    signals: typeof signals === "object" && signals !== null && !Array.isArray(signals) ? (signals as JsonMap) : null,
    outcome: side.outcome,
    matched_rule: side.matchedRule,
    reason,
    trace: withTier(
      renderTrace(ready?.combination ?? null, decisionOf(side)).map(({ failed_on, id, outcome, result, step }) => ({
        step,
        id: step === "signals" && result === "error" ? (signalOf(side, ready, signals) ?? id) : id,
        result,
        outcome: outcome ?? null,
        failed_on: step === "signals" && result === "error" ? reason : (failed_on ?? null)
      })),
      body
    ),
    created_at: formatInstant(atMs),
    seq,
    record_hash: recordHash(hash),
    obligations: (advice?.["obligations"] ?? []) as Evaluation["obligations"],
    notice_ms: integer(advice?.["notice_ms"]),
    retry_after_ms: integer(advice?.["retry_after_ms"]),
    suggestion: text(advice?.["suggestion"]),
    review_id: text(body["review_id"]),
    standing_approval_id: text(body["standing_approval_id"]),
    valid_ms: VERDICT_VALID_MS,
    mode: body["mode"] === "shadow" ? "shadow" : "enforced",
    activation_event: activation?.id ?? null,
    epoch: activation?.epoch ?? null,
    decided_by: String(body["decided_by"]) as Evaluation["decided_by"],
    action: text(jsonOf(parts.get("action"))),
    action_digest: typeof body["action_digest"] === "string" ? `sha256:${body["action_digest"]}` : null,
    run_id: text(body["run_id"]),
    instance_id: text(body["instance_id"]),
    approval_id: text(body["approval_id"]),
    extraction_id: text(body["extraction_id"]),
    tier,
    effective_tier: effective,
    agent_status: String(body["agent_status"]),
    as_of_ms: Number(body["as_of_ms"]),
    as_of_seq: Number(body["as_of_seq"]),
    meters: side.meters.map(({ after, amount, id, value }) => ({
      id,
      value,
      after,
      as_of_seq: Number(body["as_of_seq"]),
      reserved: amount !== null
    })),
    layers: side.layers.map(layerOut),
    waivers: (body["waivers"] ?? []) as ReadonlyArray<string>,
    shadow:
      shadow === null
        ? null
        : { outcome: shadow.outcome, matched_rule: shadow.matchedRule, layers: shadow.layers.map(layerOut) }
  }
}

/** The signal that ended an evaluation. */
const signalOf = ({ stoppedOn }: RecordedSide, ready: Ready | null, signals: unknown): string | null =>
  ready === null
    ? stoppedOn
    : namedSignal(ready.combination, { rule: "@invalid_signal", signal: stoppedOn }, signals ?? undefined)

/** The trace with the step that says why the agent acted below its tier, behind that of its status. */
const withTier = (trace: Evaluation["trace"], body: JsonMap): Evaluation["trace"] => {
  const words = lostWords(body)
  const place = trace.findIndex(({ result, step }) => step === "agent" && result === "miss")
  if (words === null || place < 0) return trace
  return [
    ...trace.slice(0, place + 1),
    { step: "tier", id: tiersOf(body).effective, result: "miss", outcome: null, failed_on: words },
    ...trace.slice(place + 1)
  ]
}

const layerOut = ({
  digest,
  envelopeId,
  version
}: {
  readonly digest: string
  readonly envelopeId: string
  readonly version: number
}) => ({ envelope_id: envelopeId, version, digest: `sha256:${digest}` })

const text = (value: unknown): string | null => (typeof value === "string" ? value : null)
const integer = (value: unknown): number | null => (typeof value === "number" ? value : null)

/** The value of a part that we wrote ourselves. */
const jsonOf = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? null : JSON.parse(fromUtf8(bytes) ?? "null")
