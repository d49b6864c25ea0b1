/**
 * Hands waiting letters over, each on the delays of a delivery. Runs in every process, works in the one that holds the
 * lease.
 */
import { isMailAddress } from "@flyball/contract"
import { Clock, Effect, Layer, Queue, Stream } from "effect"
import { CommitFeed } from "../../storage/commit-feed.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { readResponsePolicy } from "../../verdicts/response-policy/service.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import { forgottenMail, MAIL_TRIES, MAILS, type MailTried, planTried, storedMail, WAITING } from "./mails.ts"
import { storedWebhook } from "./document.ts"
import { type Mail, Mailer, type MailerApi } from "./ports.ts"
import { WebhookSettings } from "./settings.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/** A process that died is replaced after this. Unit: milliseconds. Longer than any mail server keeps one waiting. */
const LEASE_MS = 120_000
/**
 * No letter is begun later than this in one poll: its end must come before the lease's, or another process sends the
 * same letters. Unit: milliseconds.
 */
const BEGIN_MS = LEASE_MS / 2
const LEASE = "mail_clock"
/** How often it polls for letters that are due again. Unit: milliseconds. */
export const MAIL_POLL_MS = 60_000

/**
 * Sends the e-mails that are due, for at most a minute, and returns how many were sent.
 *
 * A crash between the handing over and the commit has the letter handed over again, under the same message id: better
 * twice than never. Spec: document 2 section 6, rule 4; decision 0019.
 */
export const sendDueMails: Effect.Effect<number, ReadFault, Storage | Mailer> = Effect.gen(function* () {
  const storage = yield* Storage
  const mailer = yield* Mailer
  const { alertEmail } = yield* WebhookSettings
  const untilMs = (yield* Clock.currentTimeMillis) + BEGIN_MS
  let sent = 0
  for (const { body, id } of yield* storage.find(MAILS, WAITING.key, WAITING.value)) {
    if ((yield* Clock.currentTimeMillis) >= untilMs) return sent
    const { messageId, nextTryAtMs, subject, text, to, webhookId } = storedMail({
      collection: MAILS,
      id,
      version: 0,
      body
    })
    if (to !== alertEmail && (yield* isForgotten(storage, webhookId, to))) {
      yield* commitWithRetry(
        storage,
        Effect.gen(function* () {
          const document = yield* storage.get(MAILS, id)
          if (document !== null) yield* storage.commit({ puts: [forgottenMail(document)] })
        })
      )
      continue
    }
    if (nextTryAtMs > (yield* storage.asOf).ms || to === null || subject === null || text === null) continue
    const tried = yield* tryOnce(mailer, { to, subject, text, messageId })
    if (tried === "handed_over") sent += 1
    yield* commitWithRetry(
      storage,
      Effect.gen(function* () {
        const document = yield* storage.get(MAILS, id)
        if (document === null || storedMail(document).state !== "pending") return
        const { givenUp, puts } = planTried(document, tried, alertEmail, (yield* storage.asOf).ms)
        yield* storage.commit({ puts })
        if (givenUp)
          yield* Effect.logError(
            `No e-mail was sent about ${aboutOf(webhookId)}: message ${messageId} is given up after ` +
              `${storedMail(document).tries + 1} of ${MAIL_TRIES} tries. ` +
              (puts.length > 1 ? "The alert address gets it instead." : "Check the mail server, and notify the owner.")
          )
      })
    )
  }
  return sent
})

const aboutOf = (webhookId: string | null): string =>
  webhookId === null ? "an agent" : `webhook ${webhookId}, which has failed`

/**
 * Reports whether a letter is not to be sent any more: the endpoint that it is about was erased, or its address is
 * neither that of an owner nor one that the response policy names.
 */
const isForgotten = Effect.fnUntraced(function* (
  storage: StorageApi,
  webhookId: string | null,
  to: string | null
): Effect.fn.Return<boolean, ReadFault> {
  if (webhookId !== null) {
    const webhook = yield* storage.get(WEBHOOKS, webhookId)
    return webhook !== null && storedWebhook(webhook).body.url === null
  }
  if (to === null) return true
  const { rows } = yield* readResponsePolicy(storage)
  if (rows.some(({ notify }) => notify.includes(to))) return false
  let isOwner = false
  yield* Stream.runForEach(documentPages(storage, AGENTS), (page) =>
    Effect.sync(() => void (isOwner ||= page.some((document) => storedAgent(document).body.ownerEmail === to)))
  )
  return !isOwner
})

const tryOnce = (mailer: MailerApi, mail: Mail): Effect.Effect<MailTried> =>
  // Kept from before such addresses were refused: otherwise a mailer that takes none of them would be called in vain
  // for a day and a half.
  !isMailAddress(mail.to)
    ? Effect.as(
        Effect.logWarning(`Letter ${mail.messageId} is for an address that e-mail cannot be sent to.`),
        "hopeless"
      )
    : mailer.send(mail).pipe(
        Effect.as<MailTried>("handed_over"),
        Effect.catchTag("MailFailed", ({ reason }) =>
          Effect.as(Effect.logWarning(`E-mail ${mail.messageId} was not sent: ${reason}.`), "not_yet" as const)
        ),
        // A letter that breaks the mailer must not keep those behind it waiting for ever.
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError(`The mailer failed at e-mail ${mail.messageId}; the attempt counts.`, defect),
            "not_yet" as const
          )
        )
      )

/**
 * Sends waiting e-mails while its scope is open: once a minute, and when one was written here. Spec: document 2 section
 * 6, rule 4; decision 0019.
 */
export const mailJob: Layer.Layer<never, never, Storage | Mailer | CommitFeed> = Layer.effectDiscard(
  Effect.gen(function* () {
    const feed = yield* CommitFeed
    const wake = yield* Queue.sliding<void>(1)
    yield* feed.subscribe(({ puts }) => {
      if (puts?.some(({ collection }) => collection === MAILS) === true) Queue.offerUnsafe(wake, undefined)
    })
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Waiting e-mails could not be read; the job tries again.",
        pause: Effect.timeoutOption(Queue.take(wake), MAIL_POLL_MS)
      },
      whereHeld(sendDueMails)
    )
  })
)
