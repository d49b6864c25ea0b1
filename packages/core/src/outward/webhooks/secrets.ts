/**
 * The secrets of webhooks, sealed. Beside the webhook's document and not in it: no record holds them, and replay
 * ignores them.
 */
import { type Crypto, fromBase64, fromUtf8, toBase64, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import type { Document, DocumentPut } from "../../storage/port.ts"
import { type SecretBoxApi, SecretUnreadable } from "../../foundation/secret-box.ts"
import { type SecretKeys, secretKeys } from "@flyball/rules"
import type { SigningKeys } from "@flyball/rules"

/** Collection of the sealed secrets; ids are those of the webhooks. */
export const WEBHOOK_SECRETS = "webhook_secrets"

/** A webhook's sealed secrets. `sealed` is left out once the webhook is revoked. */
export type SecretDocument = {
  readonly sealed?: string
  /** During a rotation the one before. */
  readonly old_sealed?: string
  /** When the old one stops signing. Unit: milliseconds since 1970 UTC. */
  readonly old_until_ms?: number
  /** Which key sealed them. */
  readonly key_id: string
}

/** The secrets in a document; only this folder writes there. */
export const storedSecret = (document: Pick<Document, "body">): SecretDocument => document.body as SecretDocument

/** When the old secret stops signing; null when there is none that signs. */
export const overlapUntilMs = (secret: SecretDocument | null, nowMs: number): number | null => {
  const untilMs = secret?.old_until_ms ?? null
  return untilMs !== null && untilMs > nowMs ? untilMs : null
}

/** Seals a new secret for a webhook. */
export const sealSecret = (box: SecretBoxApi, webhookId: string, secret: string): Effect.Effect<string> =>
  Effect.map(box.seal(utf8(secret), webhookId), toBase64)

/** Puts the secrets of a webhook. `version` is that of the document that was read, 0 for a new one. */
export const putSecret = (webhookId: string, version: number, body: SecretDocument): DocumentPut => ({
  collection: WEBHOOK_SECRETS,
  id: webhookId,
  expectedVersion: version,
  body
})

/** Deletes the secrets in a document: what is left says which key sealed them. */
export const forgottenSecret = (document: Document): DocumentPut =>
  putSecret(document.id, document.version, { key_id: storedSecret(document).key_id })

/**
 * Opens the secrets of a webhook and makes their keys ready.
 *
 * - Fails: `SecretUnreadable` when there is no current one, when it was sealed by another key, or when its bytes were
 *   changed. An old one that does not open does not sign.
 */
export const openSecrets = Effect.fnUntraced(function* (
  box: SecretBoxApi,
  crypto: Crypto,
  webhookId: string,
  { old_sealed: old, old_until_ms: untilMs, sealed }: SecretDocument
): Effect.fn.Return<SigningKeys, SecretUnreadable> {
  const keysOf = (text: string | undefined): Effect.Effect<SecretKeys, SecretUnreadable> => {
    const bytes = text === undefined ? null : fromBase64(text)
    if (bytes === null) return Effect.fail(new SecretUnreadable({ reason: "the webhook has no encrypted secret" }))
    return Effect.flatMap(box.open(bytes, webhookId), (opened) => {
      const keys = secretKeys(fromUtf8(opened) ?? "", crypto.sha256)
      return keys === null
        ? Effect.fail(new SecretUnreadable({ reason: "the decrypted value is not a secret of a webhook" }))
        : Effect.succeed(keys)
    })
  }
  const current = yield* keysOf(sealed)
  if (old === undefined || untilMs === undefined) return { current, old: null }
  // The old one stays behind after its overlap, and the key that sealed it may be gone by then: that must not silence
  // the current one.
  const keys = yield* Effect.catchTag(keysOf(old), "SecretUnreadable", () => Effect.succeed(null))
  return { current, old: keys === null ? null : { keys, untilMs } }
})
