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
  Unauthorized
} from "@flyball/contract"
import type { PlatformKeyDocument } from "@flyball/rules"
import { Clock, Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { newId } from "../../foundation/ids.ts"
import type { Writer } from "../../foundation/writer.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { KEY_BYTES } from "../ingest-keys/key-text.ts"
import { lastUses } from "../ingest-keys/last-used.ts"
import { limitsOf, PLATFORM_KEYS, platformKeyOut, storedPlatformKey } from "./document.ts"
import { platformKeyDigest, platformKeyText } from "./key-text.ts"
import { planMint, planRevoke, PLATFORM_REVOKE_SCOPE } from "./plan-keys.ts"

/** The caller behind a platform key. */
export interface PlatformKeyHolder {
  readonly writer: Writer
  readonly orgUnit: string
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
      const uses = lastUses(storage, "platform_key_uses")

      const shown = Effect.fnUntraced(function* (id: string, key: PlatformKeyDocument) {
        const [revocation] = key.revoked ? yield* storage.once(PLATFORM_REVOKE_SCOPE, [id]) : []
        // Revoked without a record here: in a chain before this one, at the latest when this one began.
        const record = key.revoked ? yield* storage.record(revocation?.seq ?? 0) : null
        return platformKeyOut(id, key, {
          lastUsedAtMs: yield* uses.read(id),
          revokedAtMs: record?.atMs ?? null
        })
      })

      const mint: PlatformKeysApi["mint"] = Effect.fnUntraced(function* (input, writer) {
        const key = platformKeyText(entropy.bytes(KEY_BYTES))
        const plan = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const keyId = yield* newId("pky")
            const command = { keyId, input, digest: platformKeyDigest(crypto, key)!, writer }
            const planned = yield* Effect.fromResult(planMint(command, yield* storage.asOf))
            yield* storage.commit(planned.change)
            return { keyId, ...planned }
          })
        )
        return { ...platformKeyOut(plan.keyId, plan.key, { lastUsedAtMs: null, revokedAtMs: null }), key }
      })

      const list = everyDocument(storage, PLATFORM_KEYS, (page) =>
        Effect.forEach(page, (document) => shown(document.id, storedPlatformKey(document)))
      )

      const revoke: PlatformKeysApi["revoke"] = Effect.fnUntraced(function* (id, writer) {
        const key = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = isId("platformKey", id) ? yield* storage.get(PLATFORM_KEYS, id) : null
            if (document === null) return yield* new PlatformKeyNotFound({ keyId: id })
            const read = storedPlatformKey(document)
            const change = planRevoke(id, { key: read, version: document.version }, writer)
            if (change !== null) yield* storage.commit(change)
            return { ...read, revoked: true }
          })
        )
        return yield* shown(id, key)
      })

      const authenticate: PlatformKeysApi["authenticate"] = Effect.fnUntraced(function* (token) {
        const digest = platformKeyDigest(crypto, token)
        const [document] = digest === null ? [] : yield* storage.find(PLATFORM_KEYS, "digest", digest)
        const key = document === undefined ? null : storedPlatformKey(document)
        if (document === undefined || key === null || key.revoked || key.orgUnit === null)
          return yield* new Unauthorized({ problem: "key" })
        if (key.expiresAtMs !== null && key.expiresAtMs <= (yield* storage.asOf).ms)
          return yield* new Unauthorized({ problem: "expired" })
        const noted = uses.note(document.id, yield* Clock.currentTimeMillis)
        if (noted !== null) yield* noted
        return {
          writer: { id: document.id },
          orgUnit: key.orgUnit,
          plan: key.plan as Plan,
          scopes: key.scopes as ReadonlyArray<PlatformScope>,
          limits: limitsOf(key)
        }
      })

      return PlatformKeys.of({ mint, list, revoke, authenticate })
    })
  )
}
