/** Everything that webhooks need of a Node host, for hosts that know no Effect. */
import {
  literalWebhookSettings,
  type WebhooksChoice,
  webhooksChoice,
  WebhookSettings,
  type WebhookSettingsApi,
  WebhookSettingsInvalid
} from "@flyball/core"
import { isOptions, describeValue } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { logMailer, smtpMailer } from "../mail/mailer.ts"
import type { MailOptions } from "../mail/settings.ts"
import { memorySecretBox, secretBox, type SecretBoxOptions } from "../secrets/secret-box.ts"
import { type EgressOptions, webhookSender } from "./pinned-sender.ts"

/** Options of webhooks of a host. */
export interface PinnedWebhooksOptions extends EgressOptions {
  /**
   * Where the key is that seals secrets: a data folder, or a file. Left out, it lives in memory, and webhooks of an
   * earlier start cannot be signed.
   */
  readonly secrets?: SecretBoxOptions
  /** The mail server; left out, letters go to the log. */
  readonly mail?: MailOptions
  /** Where these differ from the specification's. */
  readonly settings?: Partial<WebhookSettingsApi>
}

/**
 * Sender, secret box and mailer for `openGovernor({ webhooks })`.
 *
 * - Fails: when the governor opens, with a sentence, where the options or the key's file cannot be used.
 * - Spec: document 2 section 6; decision 0020.
 */
export const pinnedWebhooks = (options: PinnedWebhooksOptions = {}): WebhooksChoice => {
  const { mail, secrets, settings, ...egress } = isOptions(options) ? options : {}
  return webhooksChoice(
    "pinned",
    Layer.mergeAll(
      // Which refuses options that are none.
      webhookSender(isOptions(options) ? egress : options),
      secrets === undefined ? memorySecretBox : secretBox(secrets),
      mail === undefined ? logMailer : smtpMailer(mail),
      Layer.effect(WebhookSettings, settingsOf(settings))
    )
  )
}

const settingsOf = (settings: unknown): Effect.Effect<WebhookSettingsApi, WebhookSettingsInvalid> => {
  if (settings !== undefined && !isOptions(settings))
    return Effect.fail(
      new WebhookSettingsInvalid({
        setting: "settings",
        reason: `an object is expected, not ${describeValue(settings)}`
      })
    )
  const unknown = Object.keys(settings ?? {}).find((name) => !Object.hasOwn(literalWebhookSettings, name))
  if (unknown !== undefined)
    return Effect.fail(
      new WebhookSettingsInvalid({
        setting: unknown.slice(0, 64),
        reason: `there is none of this name; there are ${Object.keys(literalWebhookSettings).join(", ")}`
      })
    )
  return Effect.succeed({ ...literalWebhookSettings, ...settings })
}
