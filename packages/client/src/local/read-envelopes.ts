/** Reads the answer of GET /bound/agents/{agent_id}/envelopes-in-force, and decides under it. Pure. */
import {
  compile,
  type Decision,
  type Envelope,
  envelopeDigest,
  localVerdict,
  obligationJson,
  prepare,
  readEnvelope,
  type Ready,
  signalWords,
  withTierFloor
} from "@flyball/envelope"
import { portableCrypto } from "@flyball/evidence"
import type { EnvelopesInForce, Evaluation, Json, LocalVerdict } from "../wire.ts"

/**
 * Envelopes that verdicts may be given under while the service is away. The published types name no other package, so
 * the compiled envelopes stay inside.
 */
export interface LocalEnvelopes {
  readonly answer: EnvelopesInForce
  /** The verdict on an action; null where the service alone decides about it. */
  readonly decide: (intent: LocalIntent) => GivenLocally | null
}

/** An action, and what it is decided under: the answer as it was confirmed last. `ageMs`: how long ago that was. */
export interface LocalIntent {
  readonly answer: EnvelopesInForce
  readonly signals: { readonly [name: string]: Json }
  readonly args: unknown
  readonly runId: string | null
  readonly ageMs: number
}

/** A verdict of the client, as it is witnessed, and what it obliges to. */
export interface GivenLocally {
  readonly verdict: LocalVerdict
  readonly obligations: ReadonlyArray<{ readonly [name: string]: unknown }>
  readonly suggestion: string | null
  readonly reason: string | null
}

/** The signals that a caller may send under some envelopes, and whether a verdict was given under these. */
export interface DeclaredSignals {
  readonly names: ReadonlySet<string>
  readonly isOf: (layers: Evaluation["layers"] | undefined) => boolean
}

/** The signals that the layers of an answer declare; null where it does not say. */
export const readDeclaredSignals = (body: unknown, agentId: string): DeclaredSignals | null => {
  if (!isAnswer(body) || body.agent_id !== agentId) return null
  const lists: ReadonlyArray<unknown> = body.layers.map(({ caller_signals }) => caller_signals)
  if (!lists.every((names) => Array.isArray(names))) return null
  const key = keyOf(body.layers)
  return {
    names: new Set(lists.flat().map(String)),
    isOf: (layers) => Array.isArray(layers) && keyOf(layers) === key
  }
}

const keyOf = (layers: Evaluation["layers"]): string =>
  JSON.stringify(layers.map(({ digest, envelope_id, version }) => [envelope_id, version, digest]))

/** The envelopes of an answer; null where it is not understood, or where no verdict may be given under it. */
export const readEnvelopesInForce = (body: unknown, agentId: string): LocalEnvelopes | null => {
  const answer = isAnswer(body) && body.agent_id === agentId && body.obstacle === null ? body : null
  if (answer === null || answer.layers.length === 0) return null
  const envelopes: Array<Envelope> = []
  for (const { digest, envelope } of answer.layers) {
    const found = envelope === null || !isOfDigest(envelope, digest) ? null : readEnvelope(envelope).envelope
    if (found === null) return null
    envelopes.push(found)
  }
  const { combination } = compile(withTierFloor(envelopes))
  if (combination === null) return null
  const ready = prepare(combination)
  return { answer, decide: (intent) => decide(envelopes, ready, intent) }
}

const decide = (
  envelopes: ReadonlyArray<Envelope>,
  ready: Ready,
  { ageMs, answer, args, runId, signals }: LocalIntent
): GivenLocally | null => {
  const { decision } = localVerdict(
    envelopes,
    ready,
    { signals, args, runId },
    { agentId: answer.agent_id, server: answer.server_signals }
  )
  return decision === null
    ? null
    : {
        verdict: verdictOf(answer, decision, ageMs),
        obligations: decision.obligations.map(obligationJson),
        suggestion: decision.suggestion,
        reason:
          decision.stopped?.step === "signals"
            ? signalWords(
                ready.combination,
                { rule: decision.matchedRule as "@invalid_signal", signal: decision.stopped.id },
                signals,
                args
              )
            : (ready.rules.find(({ id }) => id === decision.matchedRule)?.reason ?? null)
      }
}

const verdictOf = (answer: EnvelopesInForce, decision: Decision, ageMs: number): LocalVerdict => ({
  age_ms: Math.ceil(ageMs),
  as_of_ms: answer.as_of_ms,
  as_of_seq: answer.as_of_seq,
  effective_tier: answer.effective_tier,
  layers: answer.layers.map(({ digest, envelope_id, version }) => ({ digest, envelope_id, version })),
  matched_rule: decision.matchedRule,
  origin: answer.origin,
  outcome: decision.outcome as LocalVerdict["outcome"]
})

const isOfDigest = (envelope: object, digest: string): boolean => {
  try {
    return `sha256:${envelopeDigest(envelope as never, portableCrypto.sha256)}` === digest
  } catch {
    return false
  }
}

const isAnswer = (body: unknown): body is EnvelopesInForce => {
  if (typeof body !== "object" || body === null) return false
  const { as_of_ms, as_of_seq, effective_tier, layers, max_age_ms, obstacle, origin, server_signals } = body as {
    readonly [name: string]: unknown
  }
  return (
    [as_of_ms, as_of_seq, max_age_ms].every((one) => Number.isSafeInteger(one) && (one as number) >= 0) &&
    typeof origin === "string" &&
    /^L[0-4]$/.test(String(effective_tier)) &&
    (obstacle === null || typeof obstacle === "string") &&
    typeof server_signals === "object" &&
    server_signals !== null &&
    Array.isArray(layers) &&
    layers.every(
      (layer) =>
        typeof layer === "object" &&
        layer !== null &&
        typeof layer.envelope_id === "string" &&
        Number.isSafeInteger(layer.version) &&
        typeof layer.digest === "string" &&
        (layer.envelope === null || typeof layer.envelope === "object")
    )
  )
}
