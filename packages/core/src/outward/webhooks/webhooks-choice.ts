/** The means to send webhooks, as an opaque value: hosts without Effect pass it on and never read it. */
import type { Layer } from "effect"
import type { SecretBox } from "../../foundation/secret-box.ts"
import type { Mailer, WebhookSender } from "./ports.ts"

/** Layer that provides the ports of webhooks. It may provide `WebhookSettings` too. */
export type WebhooksLayer = Layer.Layer<WebhookSender | SecretBox | Mailer, unknown>

/** Sender, mailer and secret box, chosen but not opened yet. */
export interface WebhooksChoice {
  /** `pinned` …: for messages, never to branch on. */
  readonly webhooksKind: string
  readonly layer: unknown
}

/** Makes a choice from a layer. For authors of a sender. */
export const webhooksChoice = (webhooksKind: string, layer: WebhooksLayer): WebhooksChoice => ({ webhooksKind, layer })

/** Returns the layer of a choice. */
export const webhooksLayerOf = (choice: WebhooksChoice): WebhooksLayer => choice.layer as WebhooksLayer
