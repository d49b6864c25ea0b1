/** Webhooks in the embedding API, derived from the contract. */
import type {
  attemptErrors,
  DeliveriesQuery,
  DeliveryOut,
  RecoverIn,
  RecoverOut,
  RotateSecretIn,
  WebhookCreate,
  WebhookOut,
  WebhookTestOut,
  WebhookWithSecret
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "../plain.ts"

/**
 * A webhook to be created. Absent and null mean the same. Spec: document 2 section 4, POST /webhooks; decision 0019.
 */
export interface WebhookInput extends Omit<Input<typeof WebhookCreate>, "events"> {
  /** Types of the catalogue of events, 1 to 100. */
  readonly events: ReadonlyArray<string>
}

/**
 * A webhook. Texts are null once their part was erased. Spec: document 2 section 2, "Webhook endpoint"; decision 0019.
 */
export interface WebhookInfo extends Info<typeof WebhookOut> {}

/** A webhook with its secret, which is shown only once. */
export interface WebhookSecretInfo extends Info<typeof WebhookWithSecret> {}

/** Error of a delivery attempt. */
export type AttemptErrorInfo = (typeof attemptErrors)[number]

/** Result of a test delivery. Spec: document 1 section 4, POST /webhooks/{webhook_id}/test; decision 0019. */
export interface WebhookTestInfo extends Info<typeof WebhookTestOut> {}

/** An event owed to a webhook, with every attempt so far. Spec: document 2 section 6, rule 4; decision 0019. */
export interface DeliveryInfo extends Info<typeof DeliveryOut> {}

/**
 * Webhooks: which receivers get which events. Every change of one is a record. A governor opened without `webhooks`
 * refuses to create them with `webhooks_unavailable`. Spec: document 1 sections 4 and 6, document 2 section 6;
 * decisions 0019 and 0030.
 */
export interface WebhooksClient {
  create(input: WebhookInput, options?: ActOptions): Promise<WebhookSecretInfo>
  /** Oldest first, revoked ones too. */
  list(options?: CallOptions): Promise<ReadonlyArray<WebhookInfo>>
  get(id: string, options?: CallOptions): Promise<WebhookInfo>
  /** Ends it for good: what is owed to it is cancelled. */
  revoke(id: string, options?: ActOptions): Promise<WebhookInfo>
  /** Has nothing sent to it until it is enabled. */
  disable(id: string, options?: ActOptions): Promise<WebhookInfo>
  enable(id: string, options?: ActOptions): Promise<WebhookInfo>
  /** Makes a new secret; the old one signs beside it for `overlap_hours`, 0 to 72, default 24. */
  rotateSecret(id: string, overlap?: Input<typeof RotateSecretIn>, options?: ActOptions): Promise<WebhookSecretInfo>
  /** Ends the old secret now. */
  completeRotation(id: string, options?: ActOptions): Promise<WebhookInfo>
  /** Newest first; `before` a sequence. */
  deliveries(
    id: string,
    page?: Filter<typeof DeliveriesQuery>,
    options?: CallOptions
  ): Promise<ReadonlyArray<DeliveryInfo>>
  /** Owes the event of a finished delivery once more. */
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<DeliveryInfo>
  /** Owes once more what it missed since then, at most 14 days back. With `dry_run` it only counts. */
  recover(id: string, missed: Input<typeof RecoverIn>, options?: CallOptions): Promise<Info<typeof RecoverOut>>
  /** Sends one test event at once, and answers its result. */
  test(id: string, options?: CallOptions): Promise<WebhookTestInfo>
}
