/** A decision as the chain holds it: the body of its record, its parts, and the digest of what the caller said. */
import type { DecisionIn, SettleIn } from "@flyball/contract"
import type { Crypto, Slices } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { JsonObject, JsonValue, IdempotencyKey, PartDraft, RecordDraft } from "../../storage/port.ts"
import { contentDigest } from "../content/content-digest.ts"
import { bodyMembers, decisionText, type FrameText, valueOf } from "./decision-text.ts"
import { partBytes, type PartProblem } from "../content/part-bytes.ts"
import { TextBytes } from "../content/text-bytes.ts"

/** What a caller said, ready for a record. */
export interface Content {
  readonly body: JsonObject
  readonly parts: ReadonlyArray<PartDraft>
  /** Over what the caller said, not over who wrote it when. */
  readonly digest: string
}

/** A part that cannot be kept, and why. */
export interface ContentProblem {
  readonly part: string
  readonly problem: PartProblem
}

/** What a record says of a decision beside what the caller said. */
export interface Frame {
  readonly agentId: string
  readonly agentStatus: string
  readonly writer: string
  /** The same as text. */
  readonly text: FrameText
}

/** The record of a decision. `texts` encodes its parts: one for all decisions of an act. */
export function* decisionContent(
  crypto: Crypto,
  decision: DecisionIn,
  frame: Frame,
  texts: TextBytes
): Slices<Result.Result<WitnessedDraft, ContentProblem>> {
  const usage = usageOf(decision.usage)
  const parts: Array<PartDraft> = []
  const problem =
    (yield* addPart(parts, "args", decision.args, texts)) ??
    (yield* addPart(parts, "labels", decision.labels, texts)) ??
    (yield* addPart(parts, "result", decision.result, texts))
  if (problem !== null) return Result.fail(problem)
  const { body, said } = decisionText(decision, usage, frame.text)
  return Result.succeed(new WitnessedDraft(decision, usage, frame, body, parts, contentDigest(crypto, said, parts)))
}

/**
 * The draft of a decision's record. Body and parts are made on first use.
 *
 * A thousand drafts wait for one another. Object and list literals that live that long the engine soon makes among its
 * old objects, where each keeps what it
 * refers to until a full collection; instances of a class it does not.
 */
export class WitnessedDraft implements RecordDraft {
  readonly kind = "decision.witnessed"
  readonly agentId: string
  readonly bodyText: string
  readonly once: IdempotencyKey
  readonly #decision: DecisionIn
  readonly #usage: JsonObject | null
  readonly #frame: Frame
  readonly #args: Uint8Array | null
  readonly #labels: Uint8Array | null
  readonly #result: Uint8Array | null

  constructor(
    decision: DecisionIn,
    usage: JsonObject | null,
    frame: Frame,
    bodyText: string,
    parts: ReadonlyArray<PartDraft>,
    digest: string
  ) {
    this.agentId = frame.agentId
    this.bodyText = bodyText
    this.once = new ContentKey(frame.agentId, decision.client_ref, digest)
    this.#decision = decision
    this.#usage = usage
    this.#frame = frame
    this.#args = bytesOf(parts, "args")
    this.#labels = bytesOf(parts, "labels")
    this.#result = bytesOf(parts, "result")
  }

  get body(): JsonObject {
    return witnessedBody(this.#decision, this.#usage, this.#frame)
  }

  /** Bytes of all parts together. */
  get partBytes(): number {
    return (this.#args?.length ?? 0) + (this.#labels?.length ?? 0) + (this.#result?.length ?? 0)
  }

  get parts(): ReadonlyArray<PartDraft> {
    const parts: Array<PartDraft> = []
    if (this.#args !== null) parts.push({ name: "args", bytes: this.#args })
    if (this.#labels !== null) parts.push({ name: "labels", bytes: this.#labels })
    if (this.#result !== null) parts.push({ name: "result", bytes: this.#result })
    return parts
  }
}

class ContentKey implements IdempotencyKey {
  readonly scope: string
  readonly key: string
  readonly digest: string

  constructor(scope: string, key: string, digest: string) {
    this.scope = scope
    this.key = key
    this.digest = digest
  }
}

const bytesOf = (parts: ReadonlyArray<PartDraft>, name: string): Uint8Array | null => {
  for (const part of parts) if (part.name === name) return part.bytes
  return null
}

/**
 * The content of a settlement. Its members stand in the order of their names, so their JSON text is the RFC 8785 form.
 */
export function* settlementContent(crypto: Crypto, settle: SettleIn): Slices<Result.Result<Content, ContentProblem>> {
  const actual = settle.actual?.map(({ amount, meter }) => ({ amount, meter }))
  const body = omitNullish({
    actual,
    latency_ms: settle.latency_ms,
    status: settle.status,
    usage: usageOf(settle.usage)
  }) as JsonObject
  const parts: Array<PartDraft> = []
  const problem = yield* addPart(parts, "result", settle.result, new TextBytes())
  return problem === null
    ? Result.succeed({ body, parts, digest: contentDigest(crypto, JSON.stringify(body), parts) })
    : Result.fail(problem)
}

/** Members stand in the order of their names, as in the text of it. What is null is left out. */
const witnessedBody = (decision: DecisionIn, usage: JsonObject | null, frame: Frame): JsonObject => {
  const added: JsonObject = { agent_id: frame.agentId, agent_status: frame.agentStatus, writer: frame.writer }
  const body: { [name: string]: JsonValue } = {}
  for (const name of bodyMembers) {
    const value = added[name] ?? valueOf(decision, usage, name)
    if (value !== null && value !== undefined) body[name] = value
  }
  return body
}

const usageOf = (usage: DecisionIn["usage"]): JsonObject | null =>
  usage === null || usage === undefined
    ? null
    : (omitNullish({
        cost_micro_usd: usage.cost_micro_usd,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens
      }) as JsonObject)

/** Adds a part for a value that is there; answers why it cannot be kept, or null. */
function* addPart(
  parts: Array<PartDraft>,
  name: string,
  value: unknown,
  texts: TextBytes
): Slices<ContentProblem | null> {
  if (value === undefined) return null
  const bytes = yield* partBytes(value, texts)
  if (Result.isFailure(bytes)) return { part: name, problem: bytes.failure }
  parts.push({ name, bytes: bytes.success })
  return null
}
