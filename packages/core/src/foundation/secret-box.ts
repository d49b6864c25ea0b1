/** Port of the box that secrets are sealed in before they are stored. Spec: decision 0020. */
import { Context, type Effect, Schema } from "effect"

/** The secret cannot be decrypted: another key, another owner, or changed bytes. Spec: decision 0020. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/**
 * Encrypts and decrypts secrets. `boundTo` names the owner (a webhook's id): a secret encrypted for one owner cannot be
 * decrypted for another. Spec: decision 0020.
 */
export interface SecretBoxApi {
  /** Which key seals: a short digest, the same in every process with the same key. */
  readonly keyId: string
  readonly seal: (secret: Uint8Array, boundTo: string) => Effect.Effect<Uint8Array>
  readonly open: (sealed: Uint8Array, boundTo: string) => Effect.Effect<Uint8Array, SecretUnreadable>
}

/** Service that encrypts secrets for the store. Spec: decision 0020. */
export class SecretBox extends Context.Service<SecretBox, SecretBoxApi>()("flyball/core/SecretBox") {}
