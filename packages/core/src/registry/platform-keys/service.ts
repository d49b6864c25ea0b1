/** Platform keys: mint, list, revoke, and who carries one. Spec: document 2 section 5; api.md "Document 2". */
import {
  type InvalidInput,
  isId,
  type Plan,
  type PlanLimits,
  type PlatformKeyCreate,
  type PlatformKeyMinted,
  PlatformKeyNotFound,
  type PlatformKeyOut,
  type PlatformScope,
  type Unauthorized
} from "@flyball/contract"
import type { AgentDocument, PlatformKeyDocument } from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { newId } from "../../foundation/ids.ts"
import type { Writer } from "../../foundation/writer.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { AGENTS } from "../agents/document.ts"
import { KEY_BYTES } from "../ingest-keys/key-text.ts"
import { keyStore } from "../keys/key-store.ts"
import { platformFamily } from "../keys/plan-revoke.ts"
import { limitsOf, platformKeyOut } from "./document.ts"
import { platformKeyDigest, platformKeyText } from "./key-text.ts"
import { planMint } from "./plan-mint.ts"

/** The caller behind a platform key. */
export interface PlatformKeyHolder {
  readonly writer: Writer
  readonly orgUnit: string
  /** The agent that the key names; null where it names none. */
  readonly agentId: string | null
  readonly plan: Plan
  readonly scopes: ReadonlyArray<PlatformScope>
  readonly limits: PlanLimits
}

/** Operations on platform keys. Spec: document 2 section 5; api.md "Document 2". */
export interface PlatformKeysApi {
  /** The answer holds the key, this once: only its SHA-256 is kept. */
  readonly mint: (
    input: PlatformKeyCreate,
    writer: Writer
  ) => Effect.Effect<PlatformKeyMinted, InvalidInput | ReadFault>
  /** Oldest first, revoked ones too. */
  readonly list: Effect.Effect<ReadonlyArray<PlatformKeyOut>, ReadFault>
  /** Revoking a key that is revoked answers it as it is. */
  readonly revoke: (id: string, writer: Writer) => Effect.Effect<PlatformKeyOut, PlatformKeyNotFound | ReadFault>
  /** The holder of this token. One answer for every invalid token: unknown, mistyped, revoked, expired. */
  readonly authenticate: (token: string) => Effect.Effect<PlatformKeyHolder, Unauthorized | ReadFault>
}

/** Service of platform keys. Spec: document 2 section 5; api.md "Document 2". */
export class PlatformKeys extends Context.Service<PlatformKeys, PlatformKeysApi>()("flyball/core/PlatformKeys") {
  static readonly layer: Layer.Layer<PlatformKeys, never, Storage> = Layer.effect(
    PlatformKeys,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const entropy = yield* Entropy
      const keys = keyStore<PlatformKeyDocument, PlatformKeyOut, PlatformKeyNotFound>(storage, platformFamily, {
        isKeyId: (id) => isId("platformKey", id),
        out: platformKeyOut,
        missing: (keyId) => new PlatformKeyNotFound({ keyId })
      })

      const mint: PlatformKeysApi["mint"] = Effect.fnUntraced(function* (input, writer) {
        const key = platformKeyText(entropy.bytes(KEY_BYTES))
        const plan = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const keyId = yield* newId("pky")
            const agent = input.agent_id == null ? null : yield* storage.get(AGENTS, input.agent_id)
            const unitOfAgent = agent === null ? null : (agent.body as AgentDocument).orgUnit
            const command = { keyId, input, digest: platformKeyDigest(crypto, key)!, unitOfAgent, writer }
            const planned = yield* Effect.fromResult(planMint(command, yield* storage.asOf))
            yield* storage.commit(planned.change)
            return { keyId, ...planned }
          })
        )
        return { ...platformKeyOut(plan.keyId, plan.key, { lastUsedAtMs: null, revokedAtMs: null }), key }
      })

      return PlatformKeys.of({
        mint,
        list: keys.list,
        revoke: keys.revoke,
        authenticate: (token) =>
          Effect.map(keys.open(platformKeyDigest(crypto, token)), ({ id, key }) => ({
            writer: { id },
            orgUnit: key.orgUnit,
            agentId: key.agentId,
            plan: key.plan as Plan,
            scopes: key.scopes as ReadonlyArray<PlatformScope>,
            limits: limitsOf(key)
          }))
      })
    })
  )
}
