/** Settings of webhooks that an operator may choose. */
import { Context } from "effect"
import type { EndpointFailureRule } from "@flyball/rules"
import { exactSchedule, type ScheduleSettings, SIGNATURE_HEADER } from "@flyball/rules"

/** The values of the settings. Spec: decisions 0019 and 0033. */
export interface WebhookSettingsApi {
  /** Name of the header with the specification's signature; none that a delivery has already. */
  readonly signatureHeader: string
  readonly userAgent: string
  /** The address that gets letters when a webhook fails that names nobody, or nobody who can be reached; null: none. */
  readonly alertEmail: string | null
  readonly schedule: ScheduleSettings
  readonly endpointFailure: EndpointFailureRule
  /**
   * How long a delivery that is delivered, given up or cancelled can be read and redelivered. Unit: milliseconds; at
   * least {@link MIN_KEPT_MS}.
   */
  readonly keepMs: number
}

const DAY_MS = 86_400_000

/**
 * The minimum time to keep finished deliveries: a day more than `recover` reads back, or it would deliver again what
 * was delivered.
 *
 * - Unit: milliseconds. 15 days.
 */
export const MIN_KEPT_MS = 15 * DAY_MS

/** The settings of the specification. Spec: document 2 section 6; decision 0019. */
export const literalWebhookSettings: WebhookSettingsApi = {
  signatureHeader: SIGNATURE_HEADER,
  userAgent: "Flyball-Webhooks/1",
  alertEmail: null,
  schedule: exactSchedule,
  endpointFailure: "any_delivery",
  keepMs: 30 * DAY_MS
}

/**
 * Settings of webhooks; default: {@link literalWebhookSettings}. Spec: document 2 section 6; decisions 0019 and 0033.
 */
export const WebhookSettings = Context.Reference<WebhookSettingsApi>("flyball/core/WebhookSettings", {
  defaultValue: () => literalWebhookSettings
})
