/**
 * Recomputes verdicts that an agent's SDK gave without the service, from the records up to the one that it had read.
 * Spec: `envelope/1` section 15; envelopes.md 3.12; decision 0055.
 */
import { LOCAL_MAX_AGE_MS, type LocalRefusal, localVerdict, UNKNOWN, valuesAt } from "@flyball/envelope"
import { checkBody, type DecisionBody } from "@flyball/evidence"
import { effectiveTier } from "../../agents/effective-tier.ts"
import { hasAttestedDrill } from "../../drills/document.ts"
import { reaches } from "../../kill/reach.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { actingSignals } from "../acting-tier.ts"
import type { Bindings } from "../../evaluations/bindings.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import type { Layer } from "../../evaluations/layers.ts"
import { reportedOf } from "../../evaluations/known-agents.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { signalsOf } from "../../evaluations/signals-part.ts"
import { argsIn } from "./evaluation-side.ts"
import { isActive } from "../../evaluations/may-act.ts"
import { CLOCK_STEP_MS } from "../tolerances.ts"

/** Inputs of the recomputation of local verdicts. */
export interface LocalJudgeOptions {
  readonly state: GovernedState
  readonly bindings: Bindings
  readonly fromGenesis: boolean
  /** Seq of the first record that is known. */
  readonly first: number
  /** Null where it is unknown: every verdict then counts as one of this chain. */
  readonly origin: string | null
}

/** True for a decision that an SDK states to have made alone. */
export const isLocal = ({ body, kind }: Pick<ReplayRecord, "body" | "kind">): boolean =>
  kind === "decision.witnessed" && (body["decided_by"] === "sdk_cache" || body["local_verdict"] !== undefined)

/** Compares a local verdict with its recomputation: the difference, why it is unknown, or null where they agree. */
export const judgeLocal = (
  record: ReplayRecord,
  recordMs: number | null,
  { bindings, first, fromGenesis, origin, state }: LocalJudgeOptions
): Problem | null => {
  const unlike = checkBody(record.kind, record.body)
  if (unlike !== null) return problem("local_verdict_mismatch", unlike)
  const {
    agent_id: agentId,
    decided_by: by,
    local_verdict: stated,
    run_id: runId,
    status
  } = record.body as DecisionBody
  if (stated === undefined)
    return problem("withheld", "The record says that the SDK decided, but not under which envelopes.")
  const { age_ms: ageMs, as_of_ms: atMs, as_of_seq: asOf } = stated
  if (by !== "sdk_cache")
    return problem("local_verdict_mismatch", `A local verdict is decided by sdk_cache; the record says ${String(by)}.`)
  if (stated.outcome === "deny" && status !== "denied")
    return notAllowed(
      `Its verdict is deny by ${stated.matched_rule}; the record says that the action ended as ${status}.`
    )
  if (ageMs > LOCAL_MAX_AGE_MS)
    return notAllowed(`The envelopes were read ${ageMs} ms before; they count for ${LOCAL_MAX_AGE_MS} ms.`)
  if (origin !== null && stated.origin !== origin)
    return problem("withheld", "It was given under the envelopes of another chain.")
  if (asOf >= record.seq || (recordMs !== null && atMs + ageMs > recordMs + CLOCK_STEP_MS))
    return problem("local_verdict_mismatch", "The record's as_of_seq is after the record itself.")
  if (asOf < first) return problem("withheld", "The envelopes in force then are from before the first record here.")
  const agent = state.agentAt(agentId, asOf)
  if (agent === undefined)
    return problem("withheld", "The agent changed so often since that its state then is not kept.")
  if (agent === null)
    return fromGenesis
      ? notAllowed(`No record up to ${asOf} registers the agent.`)
      : problem("withheld", "The agent was registered before the first record here.")
  const layers = state.layersAt(agentId, asOf, atMs)
  const inForce = judgeLayersThen(state, stated, layers, fromGenesis)
  if (inForce !== null) return inForce
  const reported = reportedOf(agentId, agent)
  if (!isActive(agentId, reported.document, atMs, reported.madeMs))
    return notAllowed(`The agent was not active as of record ${asOf}.`)
  const kill = judgeKillThen(state, agentId, asOf)
  if (kill !== null) return kill
  const tier = effectiveTier(reported.document, {
    hasEnvelope: true,
    hasDrill: hasAttestedDrill(reported.document, atMs)
  })
  if (tier !== stated.effective_tier)
    return problem("local_verdict_mismatch", `The agent acted at ${tier}; the record says ${stated.effective_tier}.`)
  const signals = record.parts.get("signals")
  if (signals?.state !== "present") return problem("withheld", "The signals are not shown.")
  if (agent.document.unknown.includes("blastRadius")) return problem("withheld", "The agent's profile is not shown.")
  const envelopes = layers!.flatMap(({ envelope }) => envelope ?? [])
  const server = actingSignals(reported.server, { tier: reported.document.autonomyTier, effective_tier: tier })
  const bound = bindings.of(layers!, false)
  const args = argsIn(record.parts, {}, bound)
  if (args === null) return notShown
  const { ready } = bound
  const found = localVerdict(
    envelopes,
    ready,
    { signals: signalsOf(signals.bytes), args: wholeArgs(args.args), runId: runId ?? null },
    { agentId, server }
  )
  if (found.decision === null) return notAllowed(refusals[found.refusal])
  const { matchedRule, outcome, stopped } = found.decision
  // What the envelope obliges to redact is taken out of the arguments after the verdict.
  const from = ready?.combination.signals.find(({ name }) => name === stopped?.id)?.from ?? null
  if (matchedRule !== stated.matched_rule && from !== null && valuesAt(wholeArgs(args.args), from).includes(UNKNOWN))
    return notShown
  if (outcome !== stated.outcome || matchedRule !== stated.matched_rule)
    return problem(
      "local_verdict_mismatch",
      `The verdict is ${outcome} by ${matchedRule}; the record says ${stated.outcome} by ${stated.matched_rule}.`
    )
  return fromGenesis
    ? null
    : problem("as_recorded", "Whether a halt from before the first record here reached the agent is not known.")
}

const notShown = problem("withheld", "The arguments, which the envelope reads, are not shown.")

/** Arguments as the SDK read them. It records a digest of those that are too large or have no exact form. */
const wholeArgs = (args: unknown): unknown =>
  typeof args === "object" && args !== null && "withheld" in args && "bytes" in args ? UNKNOWN : args

const notAllowed = (reason: string): Problem => problem("local_verdict_not_allowed", reason)

/** Why an SDK must not decide alone. */
const refusals: { readonly [refusal in LocalRefusal]: string } = {
  no_envelope: "The envelopes in force permit nothing.",
  not_offered: "An envelope in force does not say on_unavailable: allow_cached.",
  metered: "An envelope in force has meters.",
  latched: "An envelope in force has latches.",
  not_a_read: "The action is of another class than read.",
  not_decided_alone: "The verdict needs a person, or a notice in time.",
  obliges: "The verdict has an obligation that only the service can meet."
}

/** Compares the named versions with those in force for the agent then. Null: they are the same, and shown. */
const judgeLayersThen = (
  state: GovernedState,
  { as_of_ms: atMs, as_of_seq: asOf, layers: named }: NonNullable<DecisionBody["local_verdict"]>,
  layers: ReadonlyArray<Layer> | null,
  fromGenesis: boolean
): Problem | null => {
  for (const { digest, envelope_id: id, version } of named) {
    const known = state.version(id, version)
    if (known === null && !fromGenesis) return problem("withheld", `Version ${version} of ${id} is not shown.`)
    if (known === null || known.digest !== digest || known.content === "not an envelope")
      return problem("envelope_unknown", `Version ${version} of ${id} was not published with this content.`)
  }
  if (layers === null) return problem("withheld", "The org unit of the agent, or of an envelope, is not shown.")
  const areThese =
    layers.length === named.length &&
    layers.every(
      ({ envelopeId, version }, place) => named[place]!.envelope_id === envelopeId && named[place]!.version === version
    )
  if (!areThese)
    return fromGenesis
      ? problem(
          "envelope_not_in_force",
          `${layers.length} envelopes were in force as of record ${asOf}; the record names ${named.length}, or others.`
        )
      : problem("withheld", "An envelope in force is from before the first record here.")
  const hidden = layers.find(({ envelope }) => envelope === null)
  if (hidden !== undefined)
    return problem("withheld", `Version ${hidden.version} of ${hidden.envelopeId} is not shown.`)
  return layers.some(({ envelopeId, version }) => state.isWaived(envelopeId, version, asOf, atMs))
    ? notAllowed("A waiver held for an envelope in force, and only the service applies waivers.")
    : null
}

/** Finds an activation that reached the agent then. Null: none did. */
const judgeKillThen = (state: GovernedState, agentId: string, asOf: number): Problem | null => {
  const then = state.kills.at(asOf)
  if (then.length === 0) return null
  const { isKnown, reach } = state.reachOf(agentId, asOf)
  const one = then.find(({ target }) => reaches(target, reach) !== null)
  if (one !== undefined) return notAllowed(`${one.id} reached the agent with the response ${one.response}.`)
  return isKnown ? null : problem("withheld", "Which halts reached the agent is not shown.")
}
