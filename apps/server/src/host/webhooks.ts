/** What webhooks are sent with, as the settings say, and what sends them. */
import { join, resolve } from "node:path"
import { deliveryEngine, type GovernorServices, type Mailer, mailJob, type SecretBox, type Storage, unreadableSecret, type WebhookSender, type WebhooksLayer, webhooksLayerOf } from "@flyball/core"
import { pinnedWebhooks } from "@flyball/node"
import { Effect, Layer } from "effect"
import type { Settings } from "../settings/read.ts"
import { SECRETS_KEY } from "./data-folder.ts"

/** Sender, secret box, mailer and settings of this host. With a store in memory the key of secrets lives in memory too. */
export const webhookPorts = (settings: Settings): WebhooksLayer =>
  webhooksLayerOf(pinnedWebhooks({
    egressAllow: settings.egressAllow ?? [],
    allowHttp: settings.egressHttp === "1",
    ...(settings.database.kind === "memory" ? {} : { secrets: settings.secretsKeyFile === null ? { dir: settings.dataDir } : { file: settings.secretsKeyFile } }),
    ...(settings.smtpUrl === null ? {} : { mail: { url: settings.smtpUrl, from: settings.mailFrom } }),
    settings: { signatureHeader: settings.signatureHeader, alertEmail: settings.alertEmail }
  }))

/** Where the key is that seals webhooks' secrets. */
export const secretsKeyPath = ({ dataDir, secretsKeyFile }: Settings): string => resolve(secretsKeyFile ?? join(dataDir, SECRETS_KEY))

/**
 * What sends deliveries and letters, for a process that stays.
 *
 * - Fails: with a sentence, before anything is sent, when the store's webhooks were sealed with another key than this process has.
 */
export const webhookJobs = (settings: Settings): Layer.Layer<never, unknown, GovernorServices | Storage | WebhookSender | SecretBox | Mailer> =>
  Layer.mergeAll(deliveryEngine(), mailJob).pipe(Layer.provide(settings.secretsLost === "1" ? Layer.empty : secretsOpen(settings)))

const secretsOpen = (settings: Settings): Layer.Layer<never, unknown, Storage | SecretBox> => Layer.effectDiscard(Effect.gen(function*() {
  const found = yield* unreadableSecret
  if (found === null) return
  return yield* Effect.fail(new Error(`the secret of webhook ${found.webhookId} does not open with the key in ${secretsKeyPath(settings)}: ${found.reason}. `
    + `Bring the right ${SECRETS_KEY} back from your vault. If it is lost, set FLYBALL_SECRETS_LOST=1, start, and give each webhook a new secret (rotate-secret)`))
}))
