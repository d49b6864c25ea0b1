/**
 * Recomputes an evaluation from its own record where its inputs are from before the first record of the pack. It takes
 * the tier, status, versions and sums of the record, and the texts with the digests that it names. Spec: envelopes.md
 * 3.8; decision 0026.
 */
import type { AgentDocument } from "../../agents/document.ts"
import type { Meter } from "@flyball/envelope"
import type { ReplayRecord } from "../../records/record.ts"
import { actingSignals } from "../acting-tier.ts"
import type { Bindings, Bound } from "../../evaluations/bindings.ts"
import type { EvaluationBody, SideBody } from "../../evaluations/evaluation-body.ts"
import { recordedResponse } from "./kill.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { argsIn, type Known } from "./evaluation-side.ts"
import { reportedOf } from "../../evaluations/known-agents.ts"
import type { Layer } from "../../evaluations/layers.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { serverSignals } from "../../evaluations/server-signals.ts"
import { signalsOf } from "../../evaluations/signals-part.ts"
import { inactiveRuleOf } from "../../evaluations/may-act.ts"

/**
 * The inputs that are taken from the record. `known` has neither the values of meters, which are in the record too, nor
 * whether an approval counts.
 */
export interface RecordedFacts {
  readonly live: Bound
  readonly shadow: Bound | null
  readonly known: Omit<Known, "approved" | "windows">
}

/** Result for an evaluation that follows from those facts. */
export const asRecorded = (open: Problem): Problem => ({
  ...open,
  verdict: "as_recorded",
  reason: `Recomputed with the tier, status, versions and sums of its own record, which are not proved. ${open.reason}`
})

/** Result for sums that are taken from the record. */
export const sumsOfRecord: Problem = problem("withheld", "The values of the meters are those of the record.")

/**
 * The facts; null where the record is not enough: a text is not disclosed, a waiver applied, or a rule of the service
 * decided.
 */
export const factsOf = (
  state: GovernedState,
  bindings: Bindings,
  { parts }: ReplayRecord,
  body: EvaluationBody
): RecordedFacts | null => {
  const signals = parts.get("signals")
  if (
    signals?.state !== "present" ||
    body.extraction_id !== undefined ||
    (parts.get("advice")?.state ?? "present") !== "present" ||
    (body.waivers ?? []).length > 0 ||
    ofService.some((rule) => body.matched_rule === rule || body.shadow?.matched_rule === rule)
  )
    return null
  const layers = layersOf(state, body)
  const onTrial = body.shadow === undefined ? null : layersOf(state, body.shadow)
  if (layers === null || (body.shadow !== undefined && onTrial === null)) return null
  const [live, shadow] = [bindings.of(layers, false), onTrial === null ? null : bindings.of(onTrial, true)]
  const server = actingSignals(serverOf(state, body), body)
  for (const bound of [live, shadow]) if (bound !== null && !hasServerSignals(bound, server)) return null
  const args = argsIn(parts, body, live, shadow)
  if (args === null) return null
  const isActive = body.agent_status === "active" && body.matched_rule !== "@suspended"
  const inactiveRule = inactiveRuleOf(body.agent_status)
  return {
    live: apart(live),
    shadow: shadow === null ? null : apart(shadow),
    known: {
      signals: signalsOf(signals.bytes),
      ...args,
      runId: body.run_id ?? null,
      kill: recordedResponse(body) ?? "none",
      agent: { id: body.agent_id, orgUnit: "", isActive, inactiveRule },
      server,
      latches: none
    }
  }
}

/** The results that depend on more than the record states. */
const ofService: ReadonlyArray<string> = ["@killed", "@no_envelope"]

/** Null where a text is not disclosed. */
const layersOf = (state: GovernedState, { layers }: SideBody): ReadonlyArray<Layer> | null => {
  const found = layers.flatMap(({ digest, envelope_id: envelopeId, version }): ReadonlyArray<Layer> => {
    const known = state.version(envelopeId, version)
    const envelope = known?.gone === true ? null : state.textByDigest(digest)
    return envelope === null ? [] : [{ envelopeId, version, digest, envelope, waivers: [] }]
  })
  return found.length === layers.length && found.length > 0 ? found : null
}

/** Signals of the service. For an agent whose registration is not shown only those in the record. */
const serverOf = (
  state: GovernedState,
  { agent_id: id, agent_status: status, tier }: EvaluationBody
): Known["server"] => {
  const agent = state.agents.get(id)
  if (agent !== undefined && !agent.document.unknown.includes("blastRadius")) return reportedOf(id, agent).server
  const stated = serverSignals({
    autonomyTier: tier,
    status,
    riskClass: "unclassified",
    identityVerified: false,
    blastRadius: {}
  } as unknown as AgentDocument)
  return { tier: stated["tier"]!, agent_status: stated["agent_status"]! }
}

/** A known agent may lack a value, which denies. For an unknown agent this cannot be decided. */
const hasServerSignals = ({ ready }: Bound, server: Known["server"]): boolean =>
  ready !== null &&
  ready.combination.signals.every(
    ({ name, source }) => source !== "server" || Object.hasOwn(server, name) || Object.hasOwn(server, "risk_class")
  )

/** The owner of a window is checked elsewhere, where the agent is known. */
const apart = (bound: Bound): Bound => ({
  ...bound,
  ledgers: new Map([...bound.ledgers.keys()].map((meter: Meter) => [meter, new Map()]))
})

const none: ReadonlySet<string> = new Set()
