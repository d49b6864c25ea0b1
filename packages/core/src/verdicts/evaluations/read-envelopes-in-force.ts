/** Reads what an agent's SDK may decide under without the service. Spec: `envelope/1` section 15; decision 0055. */
import type { AgentNotFound, EnvelopesInForce, LocalObstacleWord } from "@flyball/contract"
import { type Crypto, utf8 } from "@flyball/evidence"
import { LOCAL_MAX_AGE_MS, localObstacle } from "@flyball/envelope"
import {
  effectiveTier,
  ENVELOPE_VERSIONS,
  hasAttestedDrill,
  isActive,
  type Layer,
  serverSignals,
  tierUnder,
  type VersionDocument,
  versionId
} from "@flyball/rules"
import { Effect } from "effect"
import type { Scope } from "../../foundation/scope.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import type { AsOf, ReadFault, StorageApi } from "../../storage/port.ts"
import type { InForceReader } from "../envelopes/in-force.ts"
import type { EvaluationStepsApi } from "./ports.ts"

/** The answer, and a tag that differs where anything but its position in the chain does. */
export interface TaggedEnvelopes {
  readonly answer: EnvelopesInForce
  readonly tag: string
}

/** Dependencies of the reader. */
export interface EnvelopesReader {
  readonly storage: StorageApi
  readonly crypto: Crypto
  readonly inForce: InForceReader
  readonly steps: EvaluationStepsApi
  readonly origin: string
}

/** Times the state is read again because it changed meanwhile. */
const MAX_READS = 8

/**
 * Reads until two readings agree, one before and one after the position that is named: so that this is what was in
 * force there.
 */
export const readEnvelopesInForce = Effect.fnUntraced(function* (
  reader: EnvelopesReader,
  agentId: string,
  scope: Scope
): Effect.fn.Return<TaggedEnvelopes, AgentNotFound | ReadFault> {
  let before: TaggedEnvelopes | null = null
  for (let reads = 0; reads < MAX_READS; reads++) {
    const asOf = yield* reader.storage.asOf
    const found: TaggedEnvelopes = yield* readOnce(reader, agentId, asOf, scope)
    if (before !== null && before.tag === found.tag) return found
    before = found
  }
  return yield* new StorageUnavailable({
    reason: "the envelopes in force for the agent kept changing while they were read",
    wrote: "no"
  })
})

const readOnce = Effect.fnUntraced(function* (
  { crypto, inForce, origin, steps, storage }: EnvelopesReader,
  agentId: string,
  asOf: AsOf,
  scope: Scope
): Effect.fn.Return<TaggedEnvelopes, AgentNotFound | ReadFault> {
  const agent = yield* readAgent(storage, agentId, scope)
  const { live } = yield* inForce.of(agent.id, agent.body.orgUnit, asOf.ms)
  const kill = yield* steps.killOf(agent)
  const tier = tierUnder(
    effectiveTier(agent.body, {
      hasEnvelope: live.layers.length > 0,
      hasDrill: hasAttestedDrill(agent.body, asOf.ms)
    }),
    kill.state === "none" ? null : kill.state
  )
  const obstacle: LocalObstacleWord | null = !isActive(agent.id, agent.body, asOf.ms)
    ? "agent_not_active"
    : kill.state !== "none"
      ? "kill_switch"
      : live.ready === null
        ? "no_envelope"
        : (localObstacle(live.layers.flatMap(({ envelope }) => envelope ?? [])) ??
          (live.layers.some(({ waivers }) => waivers.length > 0) ? "waived" : null))
  const facts = {
    agent_id: agent.id,
    origin,
    max_age_ms: LOCAL_MAX_AGE_MS,
    obstacle,
    effective_tier: tier,
    server_signals: serverSignals({ ...agent.body, autonomyTier: tier })
  }
  const layers = live.layers.map((layer) => ({
    envelope_id: layer.envelopeId,
    version: layer.version,
    digest: `sha256:${layer.digest}`,
    on_unavailable: layer.envelope?.onUnavailable ?? "deny",
    meters: layer.envelope?.meters.map(({ id }) => id) ?? [],
    caller_signals: (layer.envelope?.signals ?? []).flatMap(({ name, source }) => (source === "caller" ? [name] : []))
  }))
  const documents: Array<EnvelopesInForce["layers"][number]["envelope"]> = []
  // A document is shown to who may decide by it, and to nobody else.
  for (const layer of live.layers) documents.push(obstacle === null ? yield* documentOf(storage, layer) : null)
  return {
    answer: {
      ...facts,
      as_of_ms: asOf.ms,
      as_of_seq: asOf.seq,
      layers: layers.map((layer, place) => ({ ...layer, envelope: documents[place] ?? null }))
    },
    // A version's digest stands for its document, which may be erased all the same.
    tag: crypto.sha256Hex(utf8(JSON.stringify([facts, layers, documents.map((one) => one === null)])))
  }
})

const documentOf = (
  storage: StorageApi,
  { envelopeId, version }: Layer
): Effect.Effect<EnvelopesInForce["layers"][number]["envelope"], ReadFault> =>
  Effect.map(
    storage.get(ENVELOPE_VERSIONS, versionId(envelopeId, version)),
    (document) => ((document?.body as VersionDocument | undefined)?.envelope ?? null) as never
  )
