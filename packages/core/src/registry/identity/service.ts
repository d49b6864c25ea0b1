/**
 * Identities of agents: signed cards and declarations. Spec: document 1 section 4, POST /agents/{agent_id}/identity.
 */
import { Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Storage } from "../../storage/port.ts"
import { TierEvidence } from "../agents/tier-evidence.ts"
import { type AttachIdentity, attachIdentity } from "./attach-identity.ts"
import { TrustStore } from "./trust-store.ts"

/**
 * Operations on the identity of an agent. Spec: document 1 section 4, POST /agents/{agent_id}/identity; decision 0015.
 */
export interface IdentitiesApi {
  /** Verifies a signed card, or records a declared identity. Every verdict is recorded. */
  readonly attach: AttachIdentity
}

/** The service of identities. Spec: document 1 section 4, POST /agents/{agent_id}/identity; decision 0015. */
export class Identities extends Context.Service<Identities, IdentitiesApi>()("flyball/core/Identities") {
  static readonly layer: Layer.Layer<Identities, never, Storage> = Layer.effect(
    Identities,
    Effect.gen(function* () {
      const attach = attachIdentity({
        storage: yield* Storage,
        crypto: yield* EvidenceCrypto,
        trust: yield* TrustStore,
        evidence: yield* TierEvidence
      })
      return Identities.of({ attach })
    })
  )
}
