/** Rebuilds the inputs of the publication gate from the records before a publication. Spec: decisions 0025 and 0026. */
import type { ReplayRecord } from "../records/record.ts"
import type { GateView, PublishedLayer } from "./judge-publication.ts"
import type { KnownAgents } from "./known-agents.ts"
import type { KnownEnvelope, KnownEnvelopes } from "./known-envelopes.ts"

/** Inputs of the publication gate; `isWhole` is false where an envelope of an agent may be missing. */
export interface KnownGateView extends GateView {
  readonly isWhole: boolean
}

/**
 * Answers the gate's inputs at the publication of a version. Call it before that record is folded. Null: what bound
 * before is unknown.
 */
export const gateView = (
  agents: KnownAgents,
  envelopes: KnownEnvelopes,
  { body }: ReplayRecord
): KnownGateView | null => {
  const id = String(body["envelope_id"])
  const known = envelopes.get(id)
  const agentId = known === undefined ? body["agent_id"] : known.agentId
  const own = known === undefined ? [] : liveOf(envelopes, [known])
  const outer = typeof agentId === "string" ? unitLayers(agents, envelopes, agentId) : []
  if (own === null || outer === null) return null
  const inner =
    typeof agentId === "string" ? { layers: [], isWhole: true } : agentLayers(agents, envelopes, known?.orgUnit)
  return {
    outer,
    own: own[0] ?? null,
    isWithdrawn: known?.withdrawn === true,
    inner: inner.layers,
    isWhole: inner.isWhole
  }
}

/** The envelope in force for an agent's org unit itself; null where the pack does not disclose it. */
const unitLayers = (
  agents: KnownAgents,
  envelopes: KnownEnvelopes,
  agentId: string
): ReadonlyArray<PublishedLayer> | null => {
  const document = agents.byId.get(agentId)?.document
  if (document?.unknown.includes("orgUnit") === true) return null
  const orgUnit = document?.body["orgUnit"]
  if (typeof orgUnit !== "string") return []
  const units = envelopes.ofUnits().filter((envelope) => envelope.live !== null)
  return units.some((envelope) => envelope.orgUnit === undefined)
    ? null
    : liveOf(
        envelopes,
        units.filter((envelope) => envelope.orgUnit === orgUnit)
      )
}

/** The envelopes in force for the agents of an org unit, as far as the pack discloses them. */
const agentLayers = (
  agents: KnownAgents,
  envelopes: KnownEnvelopes,
  orgUnit: string | null | undefined
): { readonly layers: ReadonlyArray<PublishedLayer>; readonly isWhole: boolean } => {
  const layers: Array<PublishedLayer> = []
  let isWhole = orgUnit !== undefined
  for (const agentId of envelopes.ofAgents.keys()) {
    const document = agents.byId.get(agentId)?.document
    const isUnknown = document?.unknown.includes("orgUnit") === true
    if (!isUnknown && (typeof orgUnit !== "string" || document?.body["orgUnit"] !== orgUnit)) continue
    const live = isUnknown ? null : liveOf(envelopes, envelopes.ofAgent(agentId))
    if (live === null) isWhole = false
    else layers.push(...live)
  }
  return { layers, isWhole }
}

/** The versions that envelopes have in force; null where the text of one is not shown. */
const liveOf = (
  envelopes: KnownEnvelopes,
  some: ReadonlyArray<KnownEnvelope>
): ReadonlyArray<PublishedLayer> | null => {
  const layers: Array<PublishedLayer> = []
  for (const { id, live, withdrawn } of some) {
    if (live === null || withdrawn) continue
    const version = envelopes.version(id, live)
    if (version === null || (version.content === null && !version.gone)) return null
    const { content, digest, gone } = version
    layers.push({ envelopeId: id, digest, envelope: gone || content === "not an envelope" ? null : content })
  }
  return layers
}
