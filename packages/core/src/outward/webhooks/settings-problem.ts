/** Checks the settings of webhooks when a governor opens, and not at the first delivery. */
import { isMailAddress } from "@flyball/contract"
import { Effect, Schema } from "effect"
import { signatureHeaderProblem } from "@flyball/rules"
import type { WebhookSettingsApi } from "./settings.ts"

/** The settings of webhooks cannot be used: the start is refused. Spec: decision 0033. */
export class WebhookSettingsInvalid extends Schema.TaggedError<WebhookSettingsInvalid>()("WebhookSettingsInvalid", {
  setting: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The setting ${this.setting} of webhooks cannot be used: ${this.reason}.`
  }
}

/** Fails with the first setting that cannot be used. Hosts without types may bring anything. */
export const requireUsableSettings = (settings: WebhookSettingsApi): Effect.Effect<void, WebhookSettingsInvalid> => {
  for (const [setting, find] of Object.entries(problems)) {
    const reason = find(settings)
    if (reason !== null) return Effect.fail(new WebhookSettingsInvalid({ setting, reason }))
  }
  return Effect.void
}

const problems: { readonly [setting: string]: (settings: WebhookSettingsApi) => string | null } = {
  signatureHeader: ({ signatureHeader }) =>
    typeof signatureHeader === "string" ? signatureHeaderProblem(signatureHeader) : "the name of a header is expected",
  userAgent: ({ userAgent }) =>
    typeof userAgent === "string" && /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/.test(userAgent)
      ? null
      : "1 to 256 printable ASCII characters are expected, without a space at an end",
  alertEmail: ({ alertEmail }) =>
    alertEmail === null || (typeof alertEmail === "string" && isMailAddress(alertEmail))
      ? null
      : "an e-mail address in ASCII or null is expected",
  "schedule.base": ({ schedule }) => oneOf(schedule?.base, ["previous_attempt", "first_attempt"]),
  "schedule.jitter": ({ schedule }) => (Number.isFinite(schedule?.jitter) ? null : "a share from 0 to 0.1 is expected"),
  // Any other value would be "no" without a word.
  "schedule.followRetryAfter": ({ schedule }) =>
    ["undefined", "boolean"].includes(typeof schedule?.followRetryAfter) ? null : "true or false is expected",
  endpointFailure: ({ endpointFailure }) => oneOf(endpointFailure, ["any_delivery", "no_success_since"]),
  keepMs: ({ keepMs }) =>
    Number.isSafeInteger(keepMs) && keepMs > 0 ? null : "a whole number of milliseconds above 0 is expected"
}

const oneOf = (value: unknown, words: ReadonlyArray<string>): string | null =>
  words.some((word) => word === value) ? null : `one of ${words.join(", ")} is expected`
