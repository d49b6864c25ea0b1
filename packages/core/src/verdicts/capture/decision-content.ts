/** Makes the record of a decision: its body, its parts, and the digest of the content that the caller sent. */
import { DecisionIn, membersIn, type SettleIn } from "@flyball/contract"
import type { Crypto, Slices } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { IdempotencyKey, JsonObject, JsonValue, PartDraft, RecordDraft } from "../../storage/port.ts"
import { contentDigest } from "../content/content-digest.ts"
import { partBytes, type PartProblem, TextBytes } from "../content/part-bytes.ts"

/** The content that a caller sent, ready for a record. */
export interface Content {
  readonly body: JsonObject
  readonly parts: ReadonlyArray<PartDraft>
  /** Covers the caller's content, not who wrote it when, nor the tier of capture that the writer claims. */
  readonly digest: string
}

/** A part that cannot be stored, and why. */
export interface ContentProblem {
  readonly part: string
  readonly problem: PartProblem
}

/** The members of a decision's record that do not come from the caller. */
export interface Frame {
  readonly agentId: string
  readonly agentStatus: string
  readonly writer: string
}

/** Makes the record of a decision. `texts` encodes its parts: one for all decisions of a request. */
export function* decisionContent(
  crypto: Crypto,
  decision: DecisionIn,
  frame: Frame,
  texts: TextBytes
): Slices<Result.Result<WitnessedDraft, ContentProblem>> {
  const parts: Array<PartDraft> = []
  const problem =
    (yield* addPart(parts, "args", decision.args, texts)) ??
    (yield* addPart(parts, "labels", decision.labels, texts)) ??
    (yield* addPart(parts, "result", decision.result, texts)) ??
    (yield* addPart(parts, "signals", decision.signals, texts))
  if (problem !== null) return Result.fail(problem)
  const said = JSON.stringify(decisionBody(decision, null))
  return Result.succeed(new WitnessedDraft(decision, frame, parts, contentDigest(crypto, said, parts)))
}

/**
 * The draft of a decision's record.
 *
 * A class, because up to a thousand drafts wait for one another. V8 soon allocates literals that live that long among
 * its old objects, where each keeps what it refers to until a full collection. It does not do so with instances of a
 * class.
 */
export class WitnessedDraft implements RecordDraft {
  readonly kind = "decision.witnessed"
  readonly agentId: string
  readonly once: IdempotencyKey
  readonly parts: ReadonlyArray<PartDraft>
  readonly #decision: DecisionIn
  readonly #frame: Frame

  constructor(decision: DecisionIn, frame: Frame, parts: ReadonlyArray<PartDraft>, digest: string) {
    this.agentId = frame.agentId
    this.once = new ContentKey(frame.agentId, decision.client_ref, digest)
    this.parts = parts
    this.#decision = decision
    this.#frame = frame
  }

  get body(): JsonObject {
    return decisionBody(this.#decision, this.#frame)
  }

  /** Bytes of all parts together. */
  get partBytes(): number {
    return this.parts.reduce((sum, { bytes }) => sum + bytes.length, 0)
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

/**
 * The content of a settlement. Its members are in the order of their names, so their JSON text is the RFC 8785 form.
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

/** Members of the body that the caller sends, in the order of their names. */
const callerMembers = membersIn(DecisionIn, "body").toSorted()

/** The members that make a decision the same again. How it was captured is a claim about the capture. */
const contentMembers = callerMembers.filter((name) => name !== "capture")

/** All members of the body, in the order of their names. */
const bodyMembers = [...callerMembers, "agent_id", "agent_status", "writer"].toSorted()

/**
 * The body of a decision's record, without null members; only its content if `frame` is null. Members are in
 * the order of their names, so their JSON text is the RFC 8785 form.
 */
const decisionBody = (decision: DecisionIn, frame: Frame | null): JsonObject => {
  const added: { readonly [name: string]: string } =
    frame === null ? {} : { agent_id: frame.agentId, agent_status: frame.agentStatus, writer: frame.writer }
  const body: { [name: string]: JsonValue } = {}
  for (const name of frame === null ? contentMembers : bodyMembers) {
    const value = added[name] ?? memberOf(name, decision)
    if (value !== null && value !== undefined) body[name] = value
  }
  return body
}

/** A member as the record says it. */
const memberOf = (name: string, decision: DecisionIn): JsonValue | undefined => {
  if (name === "usage") return usageOf(decision.usage)
  if (name === "local_verdict") return localVerdictOf(decision.local_verdict)
  return (decision as { readonly [name: string]: JsonValue | undefined })[name]
}

/** Members in the order of their names; digests without their prefix, as in every record. */
const localVerdictOf = (verdict: DecisionIn["local_verdict"]): JsonObject | null =>
  verdict === null || verdict === undefined
    ? null
    : {
        age_ms: verdict.age_ms,
        as_of_ms: verdict.as_of_ms,
        as_of_seq: verdict.as_of_seq,
        effective_tier: verdict.effective_tier,
        layers: verdict.layers.map(({ digest, envelope_id, version }) => ({
          digest: digest.slice("sha256:".length),
          envelope_id,
          version
        })),
        matched_rule: verdict.matched_rule,
        origin: verdict.origin,
        outcome: verdict.outcome
      }

const usageOf = (usage: DecisionIn["usage"]): JsonObject | null =>
  usage === null || usage === undefined
    ? null
    : (omitNullish({
        cost_micro_usd: usage.cost_micro_usd,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens
      }) as JsonObject)

/** Adds a part for a value that is present. Returns why it cannot be stored, or null. */
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
