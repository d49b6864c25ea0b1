/** What webhooks are sent with, as the settings say, and what sends them. */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { deliveryEngine, type GovernorServices, layerOf, type Mailer, mailJob, SecretBox, SecretUnreadable, type Storage, type StorageChoice, type UnreadableSecret, unreadableSecret, type WebhookSender, type WebhooksLayer, webhooksLayerOf } from "@flyball/core"
import { pinnedWebhooks } from "@flyball/node"
import { Effect, Layer } from "effect"
import type { Settings } from "../settings/read.ts"
import { SECRETS_KEY } from "./data-folder.ts"

const DAY_MS = 86_400_000

/** Sender, secret box, mailer and settings of this host. With a store in memory the key of secrets lives in memory too. */
export const webhookPorts = (settings: Settings): WebhooksLayer =>
  webhooksLayerOf(pinnedWebhooks({
    egressAllow: settings.egressAllow ?? [],
    allowHttp: settings.egressHttp === "1",
    ...(settings.database.kind === "memory" ? {} : { secrets: settings.secretsKeyFile === null ? { dir: settings.dataDir } : { file: settings.secretsKeyFile } }),
    ...(settings.smtpUrl === null ? {} : { mail: { url: settings.smtpUrl, from: settings.mailFrom } }),
    settings: { signatureHeader: settings.signatureHeader, alertEmail: settings.alertEmail, keepMs: settings.webhookKeepDays * DAY_MS }
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
  if (found !== null) return yield* Effect.fail(wrongKey(settings, found))
}))

const wrongKey = (settings: Settings, { reason, webhookId }: UnreadableSecret): Error =>
  new Error(`the secret of webhook ${webhookId} does not open with the key in ${secretsKeyPath(settings)}: ${reason}. `
    + `Bring the right ${SECRETS_KEY} back from your vault. If it is lost, set FLYBALL_SECRETS_LOST=1, start, and give each webhook a new secret (rotate-secret)`)

/** Opens nothing: what a host has before it made or found a key. */
const noKey = SecretBox.of({ keyId: "", seal: () => Effect.die(new Error("nothing is sealed without a key")), open: () => Effect.fail(new SecretUnreadable({ reason: "there is no such file" })) })

/**
 * Looks, before a key is made where there is none, whether the store's webhooks have been sealed with one: a wrong key in its place would look like the right one.
 *
 * - Fails: rejects with a sentence where they have. A store that cannot be read yet is for the start to speak of.
 */
export const requireSecretsKey = async (settings: Settings, storage: StorageChoice): Promise<void> => {
  if (settings.secretsLost === "1" || existsSync(secretsKeyPath(settings))) return
  const found = await Effect.runPromise(unreadableSecret.pipe(Effect.provide([layerOf(storage), Layer.succeed(SecretBox, noKey)]), Effect.catchTag(["StorageUnavailable", "StorageCorrupt"], () => Effect.succeed(null))))
  if (found !== null) throw wrongKey(settings, found)
}
