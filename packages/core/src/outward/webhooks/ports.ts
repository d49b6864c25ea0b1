/** Ports of webhooks to the outside: a sender and a mailer. Spec: document 1 section 6; design section 2. */
import { Context, type Effect, Schema } from "effect"
import type { AttemptError } from "../../storage/outbox/outbox.ts"

/** One POST to send. */
export interface OutgoingRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
}

/** Result of an attempt. A 2xx answer has no `errorCode`. Spec: document 2 section 6, rule 2. */
export interface Attempted {
  readonly statusCode: number | null
  readonly errorCode: AttemptError | null
  /** Milliseconds, by a monotonic clock. */
  readonly durationMs: number
  /** At most 4,096 bytes of the body as text. */
  readonly responseExcerpt: string
  /** Delay that `Retry-After` requests; null when it requests none. */
  readonly retryAfterMs: number | null
}

/** Sends one request without following redirects. Never fails: an error is a result. Spec: document 1 section 6. */
export interface WebhookSenderApi {
  readonly send: (request: OutgoingRequest) => Effect.Effect<Attempted>
  /**
   * Describes the problem with a URL by its form and literal address alone; null when there is none. No name is
   * resolved.
   */
  readonly urlProblem: (url: string) => string | null
}

/**
 * Service that sends webhook requests. `@flyball/node` has one that pins the address at the socket. Spec: document 2
 * section 6; decision 0020.
 */
export class WebhookSender extends Context.Service<WebhookSender, WebhookSenderApi>()("flyball/core/WebhookSender") {}

/** An e-mail. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for every try of the same letter, so that a receiver can tell. */
  readonly messageId: string
}

/** An e-mail could not be sent. The reason contains no password. Spec: decision 0020. */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** Sends e-mail through a mail server, or writes it to the log without one. Spec: decision 0020. */
export interface MailerApi {
  readonly send: (mail: Mail) => Effect.Effect<void, MailFailed>
}

/** Sends mail. Spec: decision 0020. */
export class Mailer extends Context.Service<Mailer, MailerApi>()("flyball/core/Mailer") {}
