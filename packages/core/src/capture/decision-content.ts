/** A decision as the chain holds it: the members of its body that the caller decides, its parts, and their digest. */
import type { DecisionIn, SettleIn } from "@flyball/contract"
import type { Crypto } from "@flyball/evidence"
import { Result } from "effect"
import { present } from "../present.ts"
import type { JsonObject, PartDraft } from "../storage/port.ts"
import { contentDigest } from "./content-digest.ts"
import { partBytes, type PartProblem } from "./part-bytes.ts"

/** What a caller said, ready for a record. */
export interface Content {
  readonly body: JsonObject
  readonly parts: ReadonlyArray<PartDraft>
  readonly digest: string
}

/** A part that cannot be kept, and why. */
export interface ContentProblem {
  readonly part: string
  readonly problem: PartProblem
}

/** The content of a decision. Members stand in the order of their names: their JSON text is the RFC 8785 form then, all being ASCII text and integers. */
export const decisionContent = (crypto: Crypto, decision: DecisionIn): Result.Result<Content, ContentProblem> =>
  content(crypto, present({
    action: decision.action,
    approval_id: decision.approval_id,
    client_ref: decision.client_ref,
    decided_by: decision.decided_by,
    evaluation_id: decision.evaluation_id,
    kind: decision.kind,
    latency_ms: decision.latency_ms,
    mode: decision.mode,
    model: decision.model,
    observed_at: decision.observed_at,
    run_id: decision.run_id,
    status: decision.status,
    step: decision.step,
    tool_server: decision.tool_server,
    usage: usageOf(decision.usage),
    writer_seq: decision.writer_seq
  }), [["args", decision.args], ["labels", decision.labels], ["result", decision.result]])

/** The content of a settlement. */
export const settlementContent = (crypto: Crypto, settle: SettleIn): Result.Result<Content, ContentProblem> =>
  content(crypto, present({ latency_ms: settle.latency_ms, status: settle.status, usage: usageOf(settle.usage) }), [["result", settle.result]])

const usageOf = (usage: DecisionIn["usage"]): JsonObject | null =>
  usage === null || usage === undefined
    ? null
    : present({ cost_micro_usd: usage.cost_micro_usd, input_tokens: usage.input_tokens, output_tokens: usage.output_tokens }) as JsonObject

const content = (crypto: Crypto, body: JsonObject, values: ReadonlyArray<readonly [string, unknown]>): Result.Result<Content, ContentProblem> => {
  const parts: Array<PartDraft> = []
  for (const [name, value] of values) {
    if (value === undefined) continue
    const bytes = partBytes(value)
    if (Result.isFailure(bytes)) return Result.fail({ part: name, problem: bytes.failure })
    parts.push({ name, bytes: bytes.success })
  }
  return Result.succeed({ body, parts, digest: contentDigest(crypto, JSON.stringify(body), parts) })
}
