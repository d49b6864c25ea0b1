/** Letters that wait to be handed over: an outbox of their own, so that who must be told is told whatever the mail server does. Not governed: replay ignores them. */
import type { Document, DocumentPut } from "../storage/port.ts"
import type { Mail } from "./ports.ts"

/** Collection of the letters. */
export const MAILS = "mails"

/** Tries that a letter has. */
export const MAIL_TRIES = 7

/**
 * Between two tries of a letter.
 *
 * - Unit: milliseconds.
 */
export const MAIL_PAUSE_MS = 60_000

/** A letter. What it says and to whom is dropped when it was handed over or given up: an address is not kept longer than it is needed. */
export type MailDocument = {
  readonly state: "pending" | "sent" | "failed"
  readonly tries: number
  readonly nextTryAtMs: number
  readonly messageId: string
  /** The webhook that it is about: once its endpoint is erased, the letter is forgotten unsent. */
  readonly webhookId: string
  readonly to: string | null
  readonly subject: string | null
  readonly text: string | null
}

/** Look-up key of the letters that wait. */
export const WAITING = { key: "waiting", value: "yes" } as const

/** Puts a new letter into the outbox. The same `id` twice is a conflict: one cause, one letter. */
export const newMail = (id: string, webhookId: string, letter: Omit<Mail, "messageId">, nowMs: number): DocumentPut => {
  const body: MailDocument = { state: "pending", tries: 0, nextTryAtMs: nowMs, messageId: id, webhookId, ...letter }
  return { collection: MAILS, id, expectedVersion: 0, body, keys: { [WAITING.key]: WAITING.value } }
}

/** The letter in a document; only this folder writes there. */
export const storedMail = (document: Document): MailDocument => document.body as MailDocument

/** The letter, without what it says and to whom. */
export const forgottenMail = (document: Document): DocumentPut =>
  ({ collection: MAILS, id: document.id, expectedVersion: document.version, body: { ...storedMail(document), state: "failed", to: null, subject: null, text: null } })

/** The letter after a try. */
export const triedMail = (document: Document, handedOver: boolean, nowMs: number): DocumentPut => {
  const mail = storedMail(document)
  const tries = mail.tries + 1
  const at = { collection: MAILS, id: document.id, expectedVersion: document.version }
  const state = handedOver ? "sent" : tries >= MAIL_TRIES ? "failed" : "pending"
  if (state !== "pending") return { ...at, body: { ...mail, state, tries, to: null, subject: null, text: null } }
  return { ...at, body: { ...mail, tries, nextTryAtMs: nowMs + MAIL_PAUSE_MS }, keys: { [WAITING.key]: WAITING.value } }
}
