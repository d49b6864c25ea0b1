/** Ports and jobs of webhooks, from the settings. */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import {
  claimSecretsKey,
  deliveryEngine,
  type GovernorServices,
  layerOf,
  type Mailer,
  mailJob,
  needsSecretsKey,
  type SecretBox,
  type SecretsKeyTakeover,
  type Storage,
  type StorageChoice,
  type WebhookSender,
  type WebhooksLayer,
  webhooksLayerOf,
  type WrongSecretsKey
} from "@flyball/core"
import { exactSchedule } from "@flyball/rules"
import { pinnedWebhooks } from "@flyball/node"
import { Effect, Layer } from "effect"
import type { Settings } from "../settings/read.ts"
import { SECRETS_KEY } from "./data-folder.ts"

const DAY_MS = 86_400_000

/**
 * Sender, secret box, mailer and settings of this host. With a store in memory the key of secrets lives in memory too.
 */
export const webhookPorts = (settings: Settings): WebhooksLayer =>
  webhooksLayerOf(
    pinnedWebhooks({
      egressAllow: settings.egressAllow ?? [],
      allowHttp: settings.egressHttp === "1",
      ...(settings.egressPorts === null ? {} : { ports: settings.egressPorts }),
      ...(settings.database.kind === "memory"
        ? {}
        : {
            secrets: settings.secretsKeyFile === null ? { dir: settings.dataDir } : { file: settings.secretsKeyFile }
          }),
      ...(settings.smtpUrl === null ? {} : { mail: { url: settings.smtpUrl, from: settings.mailFrom } }),
      settings: {
        signatureHeader: settings.signatureHeader,
        alertEmail: settings.alertEmail,
        schedule: { ...exactSchedule, followRetryAfter: settings.webhookRetryAfter === "1" },
        keepMs: settings.webhookKeepDays * DAY_MS
      }
    })
  )

/** Where the key is that seals webhooks' secrets. */
export const secretsKeyPath = ({ dataDir, secretsKeyFile }: Settings): string =>
  resolve(secretsKeyFile ?? join(dataDir, SECRETS_KEY))

/**
 * Jobs that send deliveries and letters, for a process that stays.
 *
 * - Fails: with a sentence, before anything is sent, when this process has another key than the store's secrets are
 * sealed with.
 */
export const webhookJobs = (
  settings: Settings
): Layer.Layer<never, unknown, GovernorServices | Storage | WebhookSender | SecretBox | Mailer> =>
  Layer.mergeAll(deliveryEngine(), mailJob).pipe(Layer.provide(secretsKeyOf(settings)))

const secretsKeyOf = (settings: Settings): Layer.Layer<never, unknown, Storage | SecretBox> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const wrong = yield* claimSecretsKey(takeoverOf(settings))
      if (wrong !== null) return yield* Effect.fail(wrongKey(settings, wrong))
    })
  )

/** On Postgres others may be running with the store's key; elsewhere this process is the only one that writes. */
const takeoverOf = ({ database, secretsLost }: Settings): SecretsKeyTakeover =>
  secretsLost === "1" ? "lost" : database.kind === "postgres" ? "never" : "nothing_sealed"

const wrongKey = (settings: Settings, { reason, webhookId }: WrongSecretsKey): Error => {
  const what =
    webhookId === null
      ? "the key that encrypts webhooks' secrets in this store is not"
      : `the secret of webhook ${webhookId} cannot be decrypted with the key`
  return new Error(
    `${what} in ${secretsKeyPath(settings)}: ${reason}. ` +
      (webhookId === null
        ? `All processes of one store have the same ${SECRETS_KEY}: copy it from one of them, or restore it from ` +
          `your vault. `
        : `Restore the right ${SECRETS_KEY} from your vault. `) +
      "If it is lost, set FLYBALL_SECRETS_LOST=1, start, and give each webhook a new secret (rotate-secret)"
  )
}

/**
 * Checks, before a key is made where there is none, whether the store has one already: a wrong key in its place would
 * pass for the right one.
 *
 * - Fails: rejects with a sentence where it has. A store that cannot be read yet is for the start to speak of.
 */
export const requireSecretsKey = async (settings: Settings, storage: StorageChoice): Promise<void> => {
  if (settings.secretsLost === "1" || existsSync(secretsKeyPath(settings))) return
  const wrong = await Effect.runPromise(
    needsSecretsKey(takeoverOf(settings)).pipe(
      Effect.provide(layerOf(storage)),
      Effect.catchTag(["StorageUnavailable", "StorageCorrupt"], () => Effect.succeed(null))
    )
  )
  // Of servers that start at once on one folder another may have made the key since, before it named it in the store.
  if (wrong !== null && !existsSync(secretsKeyPath(settings))) throw wrongKey(settings, wrong)
}
