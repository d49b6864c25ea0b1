/** Ingest keys: mint, list, revoke, and who carries one. Spec: document 1 parts 2 and 5. */
import type { IngestKeyCreate, IngestKeyMinted, IngestKeyOut, InvalidInput } from "@flyball/contract"
import { IngestKeyNotFound, isId, type Unauthorized } from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import type { AutonomyTier, IngestKeyDocument } from "@flyball/rules"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { newId } from "../../foundation/ids.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { keyStore } from "../keys/key-store.ts"
import { ingestFamily } from "../keys/plan-revoke.ts"
import { ingestKeyOut } from "./document.ts"
import { digestOfToken, KEY_BYTES, keyDigest, keyText } from "./key-text.ts"
import { planMint } from "./plan-mint.ts"

/** The agent side of an ingest key: its id, org unit and limits. Spec: document 1 section 5, item 3. */
export interface KeyHolder {
  readonly writer: Writer
  readonly orgUnit: string
  readonly maxTier: AutonomyTier
}

/** Operations on ingest keys. Spec: document 1 section 2, "Ingest key", and section 5; decision 0037. */
export interface IngestKeysApi {
  /** The answer holds the key, this once: only its SHA-256 is kept. */
  readonly mint: (input: IngestKeyCreate, writer: Writer) => Effect.Effect<IngestKeyMinted, InvalidInput | ReadFault>
  /** Oldest first, revoked ones too. */
  readonly list: Effect.Effect<ReadonlyArray<IngestKeyOut>, ReadFault>
  /** Revoking a key that is revoked answers it as it is. */
  readonly revoke: (id: string, writer: Writer) => Effect.Effect<IngestKeyOut, IngestKeyNotFound | ReadFault>
  /** The holder of this token. One answer for every invalid token: unknown, revoked, expired. */
  readonly authenticate: (token: string) => Effect.Effect<KeyHolder, Unauthorized | ReadFault>
}

/** Service of ingest keys. Spec: document 1 section 2, "Ingest key", and section 5; decision 0037. */
export class IngestKeys extends Context.Service<IngestKeys, IngestKeysApi>()("flyball/core/IngestKeys") {
  static readonly layer: Layer.Layer<IngestKeys, never, Storage> = Layer.effect(
    IngestKeys,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const entropy = yield* Entropy
      const keys = keyStore<IngestKeyDocument, IngestKeyOut, IngestKeyNotFound>(storage, ingestFamily, {
        isKeyId: (id) => isId("ingestKey", id),
        out: ingestKeyOut,
        missing: (keyId) => new IngestKeyNotFound({ keyId })
      })

      const mint: IngestKeysApi["mint"] = Effect.fnUntraced(function* (input, writer) {
        const key = keyText(entropy.bytes(KEY_BYTES))
        const plan = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const keyId = yield* newId("key")
            const command = { keyId, input, digest: keyDigest(crypto, key), writer }
            const plan = yield* Effect.fromResult(planMint(command, yield* storage.asOf))
            yield* storage.commit(plan.change)
            return { keyId, ...plan }
          })
        )
        return { ...ingestKeyOut(plan.keyId, plan.key, { lastUsedAtMs: null, revokedAtMs: null }), key }
      })

      return IngestKeys.of({
        mint,
        list: keys.list,
        revoke: keys.revoke,
        authenticate: (token) =>
          Effect.map(keys.open(digestOfToken(crypto, token)), ({ id, key: { maxAutonomyTier, orgUnit } }) => ({
            writer: { id },
            orgUnit,
            maxTier: maxAutonomyTier
          }))
      })
    })
  )
}
