/** Ingest keys: mint, list, revoke, and who carries one. Spec: document 1 parts 2 and 5. */
import type { IngestKeyCreate, IngestKeyMinted, IngestKeyOut, InvalidInput } from "@flyball/contract"
import { IngestKeyNotFound, isId, Unauthorized } from "@flyball/contract"
import { Clock, Context, Effect, Layer } from "effect"
import type { AutonomyTier, IngestKeyDocument } from "@flyball/rules"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { newId } from "../../foundation/ids.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { INGEST_KEYS, ingestKeyOut, storedKey } from "./document.ts"
import { digestOfToken, KEY_BYTES, keyDigest, keyText } from "./key-text.ts"
import { lastUses } from "./last-used.ts"
import { planMint, planRevoke, REVOKE_SCOPE } from "./plan-mint.ts"

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
      const uses = lastUses(storage, "ingest_key_uses")

      /** The times of these keys that their documents do not hold. */
      const shown = Effect.fnUntraced(function* (
        documents: ReadonlyArray<{ readonly id: string; readonly key: IngestKeyDocument }>
      ) {
        const revocations = yield* storage.once(
          REVOKE_SCOPE,
          documents.filter(({ key }) => key.revoked).map(({ id }) => id)
        )
        const seqs = new Map(revocations.map(({ key, seq }) => [key, seq]))
        return yield* Effect.forEach(
          documents,
          Effect.fnUntraced(function* ({ id, key }) {
            const seq = seqs.get(id)
            // A key that is revoked without a record here was revoked in a chain before this one: at the latest when
            // this one began.
            const record = key.revoked ? yield* storage.record(seq ?? 0) : null
            return ingestKeyOut(id, key, { lastUsedAtMs: yield* uses.read(id), revokedAtMs: record?.atMs ?? null })
          })
        )
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

      const list: IngestKeysApi["list"] = everyDocument(storage, INGEST_KEYS, (page) =>
        shown(page.map((document) => ({ id: document.id, key: storedKey(document) })))
      )

      const revoke: IngestKeysApi["revoke"] = Effect.fnUntraced(function* (id, writer) {
        const key = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = isId("ingestKey", id) ? yield* storage.get(INGEST_KEYS, id) : null
            if (document === null) return yield* new IngestKeyNotFound({ keyId: id })
            const change = planRevoke({ keyId: id, key: storedKey(document), version: document.version, writer })
            if (change !== null) yield* storage.commit(change)
            return { ...storedKey(document), revoked: true }
          })
        )
        return (yield* shown([{ id, key }]))[0]!
      })

      /** Every request with a key comes by here: few Effects, and no read that is not needed. */
      const authenticate: IngestKeysApi["authenticate"] = (token) => {
        const digest = digestOfToken(crypto, token)
        if (digest === null) return Effect.fail(new Unauthorized({ problem: "key" }))
        return Effect.flatMap(storage.find(INGEST_KEYS, "digest", digest), ([document]) => {
          if (document === undefined) return Effect.fail(new Unauthorized({ problem: "key" }))
          const { expiresAtMs, maxAutonomyTier, orgUnit, revoked } = storedKey(document)
          if (revoked || orgUnit === null) return Effect.fail(new Unauthorized({ problem: "key" }))
          const holder: KeyHolder = { writer: { id: document.id }, orgUnit, maxTier: maxAutonomyTier }
          const admitted = Effect.withFiber((fiber) => {
            const noted = uses.note(document.id, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
            return noted === null ? Effect.succeed(holder) : Effect.as(noted, holder)
          })
          return expiresAtMs === null
            ? admitted
            : Effect.flatMap(storage.asOf, ({ ms }) =>
                expiresAtMs <= ms ? Effect.fail(new Unauthorized({ problem: "expired" })) : admitted
              )
        })
      }

      return IngestKeys.of({ mint, list, revoke, authenticate })
    })
  )
}
