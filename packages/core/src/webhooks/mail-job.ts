/** Hands waiting letters over, each at most once a minute and seven times. Runs in every process, works in the one that holds the lease. */
import { toHex } from "@flyball/evidence"
import { Cause, Clock, Effect, Layer, Queue } from "effect"
import { commitPlanned } from "../commit-planned.ts"
import { Entropy } from "../entropy.ts"
import { type ReadFault, Storage } from "../storage/port.ts"
import { WEBHOOKS } from "../storage/outbox.ts"
import { forgottenMail, MAIL_PAUSE_MS, MAILS, storedMail, triedMail, WAITING } from "./mails.ts"
import { OutboxBell } from "./outbox-bell.ts"
import { storedWebhook } from "./plan-webhook.ts"
import { Mailer } from "./ports.ts"

/** A process that died is replaced after this. Unit: milliseconds. Longer than any mail server keeps one waiting. */
const LEASE_MS = 120_000
/** No letter is begun later than this in one look: its end must come before the lease's, or another process sends the same letters. Unit: milliseconds. */
const LOOK_MS = LEASE_MS / 2
const LEASE = "mail_clock"

/**
 * Tries the letters that are due, for a minute at most, and answers how many were handed over.
 *
 * A crash between the handing over and the commit has the letter handed over again, under the same message id: better twice than never.
 */
export const sendDueMails: Effect.Effect<number, ReadFault, Storage | Mailer> = Effect.gen(function*() {
  const storage = yield* Storage
  const mailer = yield* Mailer
  const untilMs = (yield* Clock.currentTimeMillis) + LOOK_MS
  let sent = 0
  for (const { body, id } of yield* storage.find(MAILS, WAITING.key, WAITING.value)) {
    if ((yield* Clock.currentTimeMillis) >= untilMs) return sent
    const { messageId, nextTryAtMs, subject, text, to, webhookId } = storedMail({ collection: MAILS, id, version: 0, body })
    const webhook = yield* storage.get(WEBHOOKS, webhookId)
    if (webhook !== null && storedWebhook(webhook).body.url === null) {
      yield* commitPlanned(Effect.gen(function*() {
        const document = yield* storage.get(MAILS, id)
        if (document !== null) yield* storage.commit({ puts: [forgottenMail(document)] })
      }))
      continue
    }
    if (nextTryAtMs > (yield* Clock.currentTimeMillis) || to === null || subject === null || text === null) continue
    const handedOver = yield* mailer.send({ to, subject, text, messageId }).pipe(
      Effect.as(true),
      Effect.catchTag("MailFailed", ({ reason }) => Effect.as(Effect.logWarning(`Letter ${messageId} was not handed over: ${reason}.`), false)),
      // A letter that breaks the mailer must not keep those behind it waiting for ever.
      Effect.catchDefect((defect) => Effect.as(Effect.logError(`The mailer failed inside at letter ${messageId}; the try counts.`, defect), false))
    )
    if (handedOver) sent += 1
    yield* commitPlanned(Effect.gen(function*() {
      const document = yield* storage.get(MAILS, id)
      if (document === null || storedMail(document).state !== "pending") return
      yield* storage.commit({ puts: [triedMail(document, handedOver, yield* Clock.currentTimeMillis)] })
    }))
  }
  return sent
})

/** Looks once a minute, and when a letter was written here, while its scope is open. */
export const mailJob: Layer.Layer<never, never, Storage | Mailer | OutboxBell> = Layer.effectDiscard(Effect.gen(function*() {
  const storage = yield* Storage
  const bell = yield* OutboxBell
  const holder = toHex((yield* Entropy).bytes(16))
  const wake = yield* Queue.sliding<void>(1)
  const unlisten = bell.listen("mails", () => Queue.offerUnsafe(wake, undefined))
  const look = Effect.gen(function*() {
    if (yield* storage.lease(LEASE, holder, LEASE_MS)) yield* sendDueMails
  })
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(unlisten), Effect.ignore(storage.releaseLease(LEASE, holder))))
  yield* look.pipe(
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.logError("Waiting letters could not be looked at; the job tries again.", cause)),
    Effect.andThen(Effect.timeoutOption(Queue.take(wake), MAIL_PAUSE_MS)),
    Effect.forever,
    Effect.forkScoped
  )
}))
