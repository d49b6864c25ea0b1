/** Plans one evaluation. Pure: everything it knows is given. */
import type { EvaluationIn } from "@flyball/contract"
import { canonicalBytes, type Crypto } from "@flyball/evidence"
import { contentDigest } from "../content/content-digest.ts"
import type { StoredAgent } from "../../registry/agents/document.ts"
import type { KillOf } from "./ports.ts"
import {
  activationsBody,
  adviceOf,
  type Binding,
  type documentSignals,
  effectiveTier,
  EVALUATION_SCOPE,
  hasAttestedDrill,
  inactiveRuleOf,
  isActive,
  latchesOf,
  readsArgs,
  type LayerRef,
  recordedSide,
  type RecordedSide,
  RULES,
  serverSignals,
  sideBody,
  tierUnder
} from "@flyball/rules"
import type { InForce } from "../envelopes/in-force.ts"
import { type Action, decide, type Decision, type Reservation, type WindowState } from "@flyball/envelope"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import type { AsOf, JsonObject, PartDraft, RecordDraft } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"

/** The members of an evaluation request, other than signals and arguments. */
export type EvaluationInput = Required<Omit<EvaluationIn, "args" | "signals">>

/**
 * A prepared evaluation request, reused by each retry: the value that is decided on, the bytes that are kept, and the
 * digest of all of it. Nothing in it is the caller's own object.
 */
export interface RequestedEvaluation {
  readonly evaluationId: string
  readonly input: EvaluationInput
  /** Contents of the part; null where it has no exact form. */
  readonly signals: unknown
  readonly signalsPart: Uint8Array
  /** Null without arguments. */
  readonly argsPart: Uint8Array | null
  /** The arguments, read where an envelope asks for them. */
  readonly args: () => unknown
  readonly digest: string
  readonly writer: Writer
}

/** The state it is decided in. */
export interface Standing {
  readonly agent: StoredAgent
  readonly asOf: AsOf
  readonly inForce: InForce
  readonly kill: Pick<KillOf, "activations" | "state">
  readonly approved: boolean
  /** The signals of the document that it names. */
  readonly document?: ReturnType<typeof documentSignals>
  /** The standing approval that approves it. */
  readonly standingApprovalId?: string
  readonly latches: ReadonlySet<string>
}

/** How meters are found: `windowOf` names the window of a meter and key, `state` says what it holds. */
export interface Windows {
  readonly windowOf: (trial: boolean, owner: string, meter: string, key: string) => string
  readonly state: (window: string, windowMs: number) => WindowState
}

/** A verdict, and the record of it. */
export interface EvaluationPlan {
  readonly live: RecordedSide
  readonly shadow: RecordedSide | null
  readonly obligations: Decision["obligations"]
  readonly reservations: ReadonlyArray<Reservation>
  readonly latches: ReadonlyArray<string>
  readonly record: RecordDraft
  readonly events: ReadonlyArray<EventDraft>
}

/**
 * The digest of a request: the same again gets the first answer, other content under the same reference is refused.
 */
export const requestDigest = (
  crypto: Crypto,
  input: EvaluationInput,
  signalsPart: Uint8Array,
  argsPart: Uint8Array | null
): string => {
  const {
    action,
    action_digest,
    agent_id,
    approval_id,
    args_redacted,
    client_ref,
    extraction_id,
    instance_id,
    run_id
  } = input
  return contentDigest(
    crypto,
    JSON.stringify(
      omitNullish({
        action,
        action_digest,
        agent_id,
        approval_id,
        args_redacted,
        client_ref,
        extraction_id,
        instance_id,
        run_id
      })
    ),
    [...argsParts(argsPart), { name: "signals", bytes: signalsPart }]
  )
}

const argsParts = (argsPart: Uint8Array | null): ReadonlyArray<PartDraft> =>
  argsPart === null ? [] : [{ name: "args", bytes: argsPart }]

/** The digest of a void: it says nothing but which evaluation. */
export const voidDigest = (crypto: Crypto, evaluationId: string): string =>
  contentDigest(crypto, JSON.stringify({ evaluation_id: evaluationId }), [])

/**
 * Decides about an action and makes the record that says so: the verdict, everything it depends on, and what it adds to
 * meters.
 *
 * - Fails: never. What cannot be decided is denied, under a reserved name.
 * - Spec: document 1 section 2, Evaluation record; `envelope/1` section 11; decision 0025.
 */
export const planEvaluate = (
  requested: RequestedEvaluation,
  standing: Standing,
  windows: Windows,
  reviewId: string | null = null
): EvaluationPlan => {
  const { agent, approved, asOf, inForce, kill, latches: set } = standing
  const { input } = requested
  const actingTier = tierUnder(
    effectiveTier(agent.body, {
      hasEnvelope: inForce.live.layers.length > 0,
      hasDrill: hasAttestedDrill(agent.body, asOf.ms)
    }),
    kill.state === "none" ? null : kill.state
  )
  const action: Action = {
    signals: requested.signals,
    args: readsArgs(inForce.live.ready) || readsArgs(inForce.shadow?.ready) ? requested.args() : undefined,
    runId: input.run_id ?? null
  }
  const situation = {
    kill: kill.state,
    agent: {
      id: agent.id,
      orgUnit: agent.body.orgUnit ?? "",
      isActive: isActive(agent.id, agent.body, asOf.ms),
      inactiveRule: inactiveRuleOf(agent.body.status)
    },
    server: { ...serverSignals({ ...agent.body, autonomyTier: actingTier }), ...standing.document },
    latches: set,
    approved
  }
  const side = (binding: Binding, trial: boolean): { readonly decision: Decision; readonly recorded: RecordedSide } => {
    const windowOf = (meter: string, key: string): string =>
      windows.windowOf(trial, binding.owners.get(meter) ?? "", meter, key)
    const decision = decide(binding.ready, action, {
      ...situation,
      windows: (meter, key) => windows.state(windowOf(meter.id, key), meter.windowMs)
    })
    return { decision, recorded: recordedSide(decision, binding.layers, windowOf) }
  }
  const { decision, recorded: live } = side(inForce.live, false)
  const shadow = inForce.shadow === null ? null : side(inForce.shadow, true).recorded
  const latches = latchesOf(
    [inForce.live, ...(inForce.shadow === null ? [] : [inForce.shadow])],
    action,
    situation.server
  )
  const body = omitNullish({
    ...sideBody(live),
    action_digest: input.action_digest?.slice("sha256:".length),
    activations: activationsBody(kill.activations),
    agent_id: agent.id,
    agent_status: agent.body.status,
    approval_id: input.approval_id,
    args_redacted: input.args_redacted === true ? true : null,
    as_of_ms: asOf.ms,
    as_of_seq: asOf.seq,
    client_ref: input.client_ref,
    decided_by: "server",
    effective_tier: actingTier,
    evaluation_id: requested.evaluationId,
    extraction_id: input.extraction_id,
    instance_id: input.instance_id,
    latches: latches.length === 0 ? null : latches,
    mode: "enforced",
    review_id: reviewId,
    rules: RULES,
    run_id: input.run_id,
    shadow: shadow === null ? null : sideBody(shadow),
    standing_approval_id: standing.standingApprovalId,
    tier: agent.body.autonomyTier,
    waivers: waiversOf(inForce.live),
    writer: requested.writer.id
  }) as JsonObject
  return {
    live,
    shadow,
    obligations: decision.obligations,
    latches,
    reservations: [...reserved(live, ""), ...(shadow === null ? [] : reserved(shadow, "shadow:"))],
    record: {
      kind: "evaluation.made",
      agentId: agent.id,
      body,
      parts: partsOf(requested, decision),
      once: { scope: EVALUATION_SCOPE, key: requested.evaluationId, digest: requested.digest }
    },
    events: denials(requested, agent.id, live)
  }
}

/** The innermost envelope that took part. */
export const innermost = (layers: ReadonlyArray<LayerRef>): LayerRef | null => layers.at(-1) ?? null

const reserved = ({ meters }: RecordedSide, prefix: string): ReadonlyArray<Reservation> =>
  meters.flatMap(({ amount, id, window }) => (amount === null ? [] : [{ meter: `${prefix}${id}`, window, amount }]))

const waiversOf = ({ layers }: Binding): ReadonlyArray<string> | null => {
  const ids = layers.flatMap(({ waivers }) => waivers.map(({ id }) => id))
  return ids.length === 0 ? null : ids
}

const partsOf = (
  { argsPart, input, signalsPart }: RequestedEvaluation,
  decision: Decision
): ReadonlyArray<PartDraft> => {
  const advice = adviceOf(decision)
  return [
    ...(input.action === undefined || input.action === null
      ? []
      : [{ name: "action", bytes: canonicalBytes(input.action) }]),
    ...(advice === null ? [] : [{ name: "advice", bytes: advice }]),
    ...argsParts(argsPart),
    { name: "signals", bytes: signalsPart }
  ]
}

const denials = (
  { evaluationId, writer }: RequestedEvaluation,
  agentId: string,
  { layers, matchedRule, outcome }: RecordedSide
): ReadonlyArray<EventDraft> => {
  if (outcome !== "deny" && outcome !== "halt") return []
  const envelope = innermost(layers)
  return [
    event("evaluation.denied", {
      evaluation_id: evaluationId,
      agent_id: agentId,
      outcome,
      matched_rule: matchedRule,
      envelope_id: envelope?.envelopeId ?? null,
      envelope_version: envelope?.version ?? null,
      writer: writer.id
    })
  ]
}
