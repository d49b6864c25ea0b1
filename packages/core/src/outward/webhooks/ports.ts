/** Ports of webhooks to the outside: a sender, a mailer, a secret box. Spec: document 1 section 6; design section 2. */
import { Context, type Effect, Schema } from "effect"
import type { AttemptError } from "../../storage/outbox/outbox.ts"

/** One POST as it goes out. */
export interface OutgoingRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
}

/** Result of an attempt. A 2xx answer has no `errorCode`. */
export interface Attempted {
  readonly statusCode: number | null
  readonly errorCode: AttemptError | null
  /** Milliseconds, by a monotonic clock. */
  readonly durationMs: number
  /** At most 4,096 bytes of the body as text. */
  readonly responseExcerpt: string
  /** Delay that `Retry-After` asks for; null when it asks for none. */
  readonly retryAfterMs: number | null
}

/** Sends one request, following nothing, and never fails: what goes wrong is an answer. Spec: document 1 section 6. */
export interface WebhookSenderApi {
  readonly send: (request: OutgoingRequest) => Effect.Effect<Attempted>
  /**
   * Describes the problem with a URL by its form and literal address alone; null when there is none. No name is
   * resolved.
   */
  readonly urlProblem: (url: string) => string | null
}

/** Sends webhooks. `@flyball/node` has the one that is pinned at the socket. */
export class WebhookSender extends Context.Service<WebhookSender, WebhookSenderApi>()("flyball/core/WebhookSender") {}

/** A letter. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for every try of the same letter, so that a receiver can tell. */
  readonly messageId: string
}

/** A letter could not be handed over. The reason holds no password. */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** Hands letters over to a mail server; without one, to the log. */
export interface MailerApi {
  readonly send: (mail: Mail) => Effect.Effect<void, MailFailed>
}

/** Sends mail. */
export class Mailer extends Context.Service<Mailer, MailerApi>()("flyball/core/Mailer") {}

/** The sealed secret cannot be opened: another key, another owner, or changed bytes. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/**
 * Seals secrets for the store. `boundTo` names the owner (a webhook's id): what is sealed for one does not open for
 * another.
 */
export interface SecretBoxApi {
  /** Which key seals: a short digest, the same in every process with the same key. */
  readonly keyId: string
  readonly seal: (secret: Uint8Array, boundTo: string) => Effect.Effect<Uint8Array>
  readonly open: (sealed: Uint8Array, boundTo: string) => Effect.Effect<Uint8Array, SecretUnreadable>
}

/** Seals secrets. */
export class SecretBox extends Context.Service<SecretBox, SecretBoxApi>()("flyball/core/SecretBox") {}
