/** Where deliveries go and what signs them, kept between claims. */
import type { Crypto } from "@flyball/evidence"
import { Effect } from "effect"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { storedWebhook } from "./document.ts"
import type { SecretBoxApi } from "../../foundation/secret-box.ts"
import type { SigningKeys } from "@flyball/rules"
import { openSecrets, storedSecret, WEBHOOK_SECRETS } from "./secrets.ts"

/** A receiver that can be sent to. */
export interface Target {
  readonly version: number
  readonly url: string
  readonly keys: SigningKeys
}

/**
 * Receivers that are remembered.
 *
 * - Unit: webhooks. Each is a few hundred bytes; beyond this many the oldest is read again.
 */
const MAX_TARGETS = 10_000

/** Remembers receivers by the version of their webhook, which every change of the secret moves too. */
export class Targets {
  readonly #storage: StorageApi
  readonly #box: SecretBoxApi
  readonly #crypto: Crypto
  readonly #known = new Map<string, Target>()

  constructor(storage: StorageApi, box: SecretBoxApi, crypto: Crypto) {
    this.#storage = storage
    this.#box = box
    this.#crypto = crypto
  }

  /**
   * The receivers of these webhooks, as the store has them now. One that is not to be sent to is left out: no webhook,
   * not active, its address erased, or its secret does not open.
   *
   * - Shape: `versions` by webhook, as just read from the store; null where none was.
   * - Cost: nothing where all are known by their versions. Else one read for each webhook, all of them, since those
   *   that were known grow old meanwhile; a second one, and
   *   the opening, for each that changed.
   */
  of(versions: ReadonlyMap<string, number | null>): Effect.Effect<ReadonlyMap<string, Target>, ReadFault> {
    const targets = new Map<string, Target>()
    for (const [id, version] of versions) {
      const known = this.#known.get(id)
      if (known?.version === version) targets.set(id, known)
    }
    if (targets.size === versions.size) return Effect.succeed(targets)
    targets.clear()
    return Effect.as(
      Effect.forEach(
        [...versions.keys()],
        (id) =>
          Effect.map(this.#read(id), (target) => {
            if (target !== null) targets.set(id, target)
          }),
        { concurrency: 16, discard: true }
      ),
      targets
    )
  }

  #read(id: string): Effect.Effect<Target | null, ReadFault> {
    return Effect.flatMap(this.#storage.get(WEBHOOKS, id), (document) => {
      if (document === null) return Effect.succeed(null)
      const { body, version } = storedWebhook(document)
      // Ended between the claim and its sending: the caller that ended it was promised that nothing more is sent.
      if (body.status !== "active") return Effect.succeed(null)
      const known = this.#known.get(id)
      if (known !== undefined && known.version === version) return Effect.succeed(known)
      return body.url === null ? Effect.succeed(null) : this.#open(id, version, body.url)
    })
  }

  #open(id: string, version: number, url: string): Effect.Effect<Target | null, ReadFault> {
    return Effect.flatMap(this.#storage.get(WEBHOOK_SECRETS, id), (document) => {
      if (document === null) return Effect.succeed(null)
      // Read after the webhook, so the secret may be newer than `version`: then the next read finds a newer version and
      // opens again.
      return openSecrets(this.#box, this.#crypto, id, storedSecret(document)).pipe(
        Effect.map((keys) => this.#remember(id, { version, url, keys })),
        Effect.catchTag("SecretUnreadable", ({ reason }) =>
          Effect.as(
            Effect.logError(
              `Webhook ${id} cannot be signed for: ${reason}. Start with the key that encrypted its secret, or ` +
                `create another webhook.`
            ),
            null
          )
        )
      )
    })
  }

  #remember(id: string, target: Target): Target {
    this.#known.delete(id)
    if (this.#known.size >= MAX_TARGETS) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, target)
    return target
  }
}
