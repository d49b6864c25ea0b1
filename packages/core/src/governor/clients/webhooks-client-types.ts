/** What a host without Effect does with webhooks. */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** A webhook to be created. Absent and null mean the same. */
export interface WebhookInput {
  /** https, without user name, password and fragment. Where it leads is checked at each attempt. */
  readonly url: string
  /** Types of the catalogue of events, 1 to 100. */
  readonly events: ReadonlyArray<string>
  readonly description?: string | null | undefined
  /** Who is written to when it fails; left out, the address the host was started with. */
  readonly notify_email?: string | null | undefined
}

/** A webhook. Texts are null once their part was erased. */
export interface WebhookInfo {
  readonly id: string
  readonly url: string | null
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly notify_email: string | null
  readonly status: "active" | "failed" | "disabled" | "revoked"
  readonly cause: "owner" | "seventh_failure" | "secret_rotated" | "enabled" | null
  readonly created_by: string
  readonly created_at: string
  readonly revoked_at: string | null
  readonly secret_overlap_until: string | null
}

/** A webhook with its secret, the only time that it is shown. */
export interface WebhookSecretInfo extends WebhookInfo {
  readonly secret: string
}

/** What went wrong with an attempt. */
export type AttemptErrorInfo =
  | "timeout"
  | "connect"
  | "dns"
  | "tls"
  | "ssrf_blocked"
  | "redirect"
  | "http_status"
  | "body_too_large"
  | "crashed"

/** How a test went. */
export interface WebhookTestInfo {
  readonly delivered: boolean
  readonly status_code: number | null
  readonly duration_ms: number
  readonly error: AttemptErrorInfo | null
  readonly event_id: string
}

/** An event owed to a webhook, with every attempt so far. */
export interface DeliveryInfo {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  /** 1, 2, 3 … for each webhook without a gap. */
  readonly sequence: number
  readonly state: "pending" | "in_flight" | "succeeded" | "failed" | "cancelled"
  readonly created_at: string
  readonly next_attempt_at: string | null
  readonly finished_at: string | null
  readonly attempts: ReadonlyArray<{
    readonly attempt: number
    readonly started_at: string
    readonly ended_at: string | null
    readonly duration_ms: number | null
    readonly status_code: number | null
    readonly error: AttemptErrorInfo | null
    readonly response_excerpt: string
  }>
}

/**
 * Webhooks: who is told of what. Every change of one is a record. A governor opened without `webhooks` refuses to
 * create them with `webhooks_unavailable`.
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
  rotateSecret(
    id: string,
    overlap?: { readonly overlap_hours?: number | null | undefined },
    options?: ActOptions
  ): Promise<WebhookSecretInfo>
  /** Ends the old secret now. */
  completeRotation(id: string, options?: ActOptions): Promise<WebhookInfo>
  /** Newest first; `before` a sequence. */
  deliveries(
    id: string,
    page?: { readonly before?: number | undefined; readonly limit?: number | undefined },
    options?: CallOptions
  ): Promise<ReadonlyArray<DeliveryInfo>>
  /** Owes the event of a finished delivery once more. */
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<DeliveryInfo>
  /** Owes once more what it missed since then, at most 14 days back. With `dry_run` it only counts. */
  recover(
    id: string,
    missed: { readonly since: string; readonly dry_run?: boolean | null | undefined },
    options?: CallOptions
  ): Promise<{ readonly count: number; readonly dry_run: boolean; readonly has_more: boolean }>
  /** Sends one test event at once, and tells how it went. */
  test(id: string, options?: CallOptions): Promise<WebhookTestInfo>
}
