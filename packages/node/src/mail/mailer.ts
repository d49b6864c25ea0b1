/** Mail: over SMTP where a server is set, else into the log. */
import { type Mail, Mailer, type MailerApi, MailFailed } from "@flyball/core"
import { Clock, Effect, Layer, Schema } from "effect"
import { LetterRefused, writeLetter } from "./letter.ts"
import { type MailOptions, type MailServer, readMailOptions } from "./settings.ts"
import { sendLetter, SmtpProblem } from "./smtp-send.ts"

/** The settings of the mail server cannot be used: the start is refused. */
export class MailInvalid extends Schema.TaggedError<MailInvalid>()("MailInvalid", { reason: Schema.String }) {
  override get message(): string {
    return `Mail cannot be sent: ${this.reason}.`
  }
}

/** A mailer without Effect. */
export interface PlainMailer {
  /** Rejects with `MailFailed`. */
  readonly send: (mail: Mail) => Promise<void>
}

/**
 * Mail over SMTP as a layer. No connection is made before the first letter. Fails with `MailInvalid`. Spec: decision
 * 0020.
 */
export const smtpMailer = (options: MailOptions): Layer.Layer<Mailer, MailInvalid> =>
  Layer.effect(Mailer, opened(options))

/** Opens an SMTP mailer as a plain object. Throws `MailInvalid`. Spec: decision 0020. */
export const openSmtpMailer = (options: MailOptions): PlainMailer => {
  const mailer = Effect.runSync(opened(options))
  return { send: (mail) => Effect.runPromise(mailer.send(mail)) }
}

/**
 * Without a mail server: a warning for each letter. It shows the subject, which names ids only, and neither whom it is
 * for nor what it says. Spec: decision 0020.
 */
export const logMailer: Layer.Layer<Mailer> = Layer.succeed(Mailer, {
  send: (mail) =>
    Effect.logWarning(
      `A letter was not sent, since no mail server is set: ${mail.subject.replace(/\p{Cc}+/gu, " ")} ` +
        `(${mail.messageId.replace(/\p{Cc}+/gu, " ")})`
    )
})

/** Describes the problem with the settings in one sentence that holds no password; null if there is none. */
export const mailProblem = (options: MailOptions): string | null => {
  const read = readMailOptions(options)
  return typeof read === "string" ? read : null
}

const opened = (options: MailOptions): Effect.Effect<MailerApi, MailInvalid> => {
  const server = readMailOptions(options)
  return typeof server === "string"
    ? Effect.fail(new MailInvalid({ reason: server }))
    : Effect.succeed({ send: (mail) => handOver(server, mail) })
}

const handOver = (server: MailServer, mail: Mail): Effect.Effect<void, MailFailed> =>
  Effect.flatMap(Clock.currentTimeMillis, (atMs) =>
    Effect.tryPromise({
      try: async (signal) => sendLetter(server, { to: mail.to, letter: writeLetter(mail, server.from, atMs) }, signal),
      catch: (error) => {
        if (error instanceof SmtpProblem || error instanceof LetterRefused)
          return new MailFailed({ reason: error.message })
        throw error
      }
    })
  )
