/** Public API of `@flyball/node`. Everything not listed may change tomorrow. */
export { createFile } from "./atomic-file.ts"
export { dataFolder, dataFolderVkey } from "./data-folder.ts"
export { examinerThread } from "./examiner/examiner-layer.ts"
export { logMailer, MailInvalid, mailProblem, openSmtpMailer, type PlainMailer, smtpMailer } from "./mail/mailer.ts"
export type { MailOptions } from "./mail/settings.ts"
export {
  memorySecretBox,
  openSecretBox,
  type PlainSecretBox,
  rotateSecretsKey,
  secretBox,
  type SecretBoxOptions
} from "./secrets/secret-box.ts"
export { pinnedWebhooks, type PinnedWebhooksOptions } from "./webhooks/pinned-webhooks.ts"
export {
  EgressInvalid,
  type EgressOptions,
  egressProblem,
  pinnedSender,
  type PinnedSender,
  webhookSender
} from "./webhooks/pinned-sender.ts"
export { acceptGuardState, guardInDoubt, installGuardState, readGuardState, removeGuardState } from "./guard-backup.ts"
export type { DataFolderOptions } from "./open-folder.ts"
export { trustFolder, type TrustFolderOptions } from "./trust-folder.ts"
