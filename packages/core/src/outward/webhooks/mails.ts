/**
 * E-mails that wait to be sent: an outbox of their own, so that a mail server that is away loses none. Not governed:
 * replay ignores them.
 */
import type { Document, DocumentPut } from "../../storage/port.ts"
import type { Mail } from "./ports.ts"
import { delaysMs, MAX_ATTEMPTS } from "@flyball/rules"

/** Collection of the letters. */
export const MAILS = "mails"

/** Tries that a letter has, on the delays of a delivery: a mail server may be away for as long as a receiver. */
export const MAIL_TRIES = MAX_ATTEMPTS

/**
 * A letter. What it says and to whom is dropped when it was handed over or given up: an address is not kept longer than
 * it is needed.
 */
export type MailDocument = {
  readonly state: "pending" | "sent" | "failed"
  readonly tries: number
  readonly nextTryAtMs: number
  readonly messageId: string
  /**
   * The webhook that it is about: once its endpoint is erased, the letter is forgotten unsent. Null: it is about an
   * agent, and forgotten once neither an owner nor the response policy has its address.
   */
  readonly webhookId: string | null
  readonly to: string | null
  readonly subject: string | null
  readonly text: string | null
}

/** Look-up key of the letters that wait. */
export const WAITING = { key: "waiting", value: "yes" } as const

/** Puts a new letter into the outbox. The same `id` twice is a conflict: one cause, one letter. */
export const newMail = (
  id: string,
  webhookId: string | null,
  letter: Omit<Mail, "messageId">,
  nowMs: number
): DocumentPut => {
  const body: MailDocument = { state: "pending", tries: 0, nextTryAtMs: nowMs, messageId: id, webhookId, ...letter }
  return { collection: MAILS, id, expectedVersion: 0, body, keys: { [WAITING.key]: WAITING.value } }
}

/** An e-mail to an owner, or to a person whom the response policy names. */
export const newPolicyMail = (id: string, letter: Omit<Mail, "messageId">, nowMs: number): DocumentPut =>
  newMail(id, null, letter, nowMs)

/** The letter in a document; only this folder writes there. */
export const storedMail = (document: Document): MailDocument => document.body as MailDocument

/** The letter, without what it says and to whom. */
export const forgottenMail = (document: Document): DocumentPut => ({
  collection: MAILS,
  id: document.id,
  expectedVersion: document.version,
  body: { ...storedMail(document), state: "failed", to: null, subject: null, text: null }
})

/** Result of an attempt to send an e-mail. `hopeless`: no mailer will ever take it. */
export type MailTried = "handed_over" | "not_yet" | "hopeless"

/**
 * Plans the change after an attempt to send a letter. The last failed attempt abandons the letter and puts a letter
 * about it to the host's own address, with attempts of its own, unless the failed letter was for that address.
 *
 * - Spec: decision 0019.
 */
export const planTried = (
  document: Document,
  tried: MailTried,
  alertEmail: string | null,
  nowMs: number
): { readonly givenUp: boolean; readonly puts: ReadonlyArray<DocumentPut> } => {
  const mail = storedMail(document)
  const tries = mail.tries + 1
  const at = { collection: MAILS, id: document.id, expectedVersion: document.version }
  const waitMs = tried === "not_yet" ? delaysMs[tries] : undefined
  if (waitMs !== undefined)
    return {
      givenUp: false,
      puts: [{ ...at, body: { ...mail, tries, nextTryAtMs: nowMs + waitMs }, keys: { [WAITING.key]: WAITING.value } }]
    }
  const givenUp = tried !== "handed_over"
  const over: DocumentPut = {
    ...at,
    body: { ...mail, state: givenUp ? "failed" : "sent", tries, to: null, subject: null, text: null }
  }
  const { subject, text, to } = mail
  const goesOn = givenUp && alertEmail !== null && alertEmail !== to && subject !== null && text !== null
  return {
    givenUp,
    puts: goesOn
      ? [over, newMail(`${document.id}_alert`, mail.webhookId, { to: alertEmail, subject, text }, nowMs)]
      : [over]
  }
}
