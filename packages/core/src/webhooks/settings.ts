/** What an operator may choose about webhooks. */
import { Context } from "effect"
import type { EndpointFailureRule } from "./rules/endpoint-states.ts"
import { exactSchedule, type ScheduleSettings } from "./rules/schedule.ts"
import { SIGNATURE_HEADER } from "./rules/signature.ts"

/** The settings. */
export interface WebhookSettingsApi {
  /** Name of the header with the specification's signature. */
  readonly signatureHeader: string
  readonly userAgent: string
  /** Who is written to when a webhook fails that names nobody; null: nobody. */
  readonly alertEmail: string | null
  readonly schedule: ScheduleSettings
  readonly endpointFailure: EndpointFailureRule
}

/** The specification's own. */
export const literalWebhookSettings: WebhookSettingsApi = {
  signatureHeader: SIGNATURE_HEADER,
  userAgent: "Flyball-Webhooks/1",
  alertEmail: null,
  schedule: exactSchedule,
  endpointFailure: "any_delivery"
}

/** The settings; the specification's own unless a host brings others. */
export const WebhookSettings = Context.Reference<WebhookSettingsApi>("flyball/core/WebhookSettings", { defaultValue: () => literalWebhookSettings })
