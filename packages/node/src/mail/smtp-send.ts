/**
 * Hands one letter over to a mail server: one connection per letter, spoken by nodemailer.
 *
 * Only nodemailer's SMTP connection is used (decision 0020 of core). Its composer, which can read files and URLs, is
 * not imported: the letter arrives here as finished text, and the envelope as two checked addresses.
 *
 * Spec: RFC 5321, RFC 3207 (STARTTLS), RFC 4954 (AUTH).
 */
import { connect } from "node:net"
import type { SMTPConnectionOptions } from "nodemailer/lib/smtp-connection"
import type { MailServer } from "./settings.ts"

/** Recipient and text of a letter to send. Addresses and letter were checked when they were written. */
export interface Envelope {
  readonly to: string
  readonly letter: string
}

/** Error that ended an SMTP conversation; its message shows nothing that was sent. */
export class SmtpProblem extends Error {}

/** Unit: milliseconds for the whole conversation. */
export const CONVERSATION_MS = 30_000
/** Unit: characters of a server's words that are shown. */
const MAX_SHOWN_CHARACTERS = 200
/** Unit: bytes. A longer reply ends the conversation. */
const MAX_REPLY_BYTES = 65_536

/**
 * Resolves once the server has taken the letter.
 *
 * - Fails: rejects with `SmtpProblem`, whose sentence holds no password and no recipient.
 */
export const sendLetter = async (server: MailServer, envelope: Envelope, signal: AbortSignal): Promise<void> => {
  // Loaded with the first letter: it brings Node's HTTP client, which would slow down every start.
  const { default: SmtpConnection } = await import("nodemailer/lib/smtp-connection")
  // A socket of our own uses the host's resolver, which reads /etc/hosts. nodemailer asks DNS servers first.
  const socket = connect({ host: server.host, port: server.port })
  const smtp = new SmtpConnection({ ...connectionOptions(server), connection: socket })
  let timer: NodeJS.Timeout | undefined
  let onAbort = (): void => undefined
  const broken = new Promise<never>((_, reject) => {
    socket.once("error", reject)
    smtp.on("error", reject)
    timer = setTimeout(() => reject(tooSlow()), CONVERSATION_MS)
    onAbort = () => reject(new SmtpProblem("the sending was called off"))
    signal.addEventListener("abort", onAbort)
    if (signal.aborted) onAbort()
  })
  const step = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([broken, new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))])
  try {
    await step((done) => socket.once("connect", () => done()))
    await step((done) => smtp.connect(done))
    if (server.tls !== "never" && !smtp.secure) {
      const way = "Use smtps://, or ?starttls=never where the network is trusted"
      throw new SmtpProblem(`the mail server offers no STARTTLS, so nothing was sent. ${way}`)
    }
    if (server.login !== null) {
      if (!smtp.allowsAuth) throw new SmtpProblem("the mail server offers no AUTH, and a user and password are set")
      const { password, user } = server.login
      await step((done) => smtp.login({ credentials: { user, pass: password } }, done))
    }
    await step((done) => smtp.send({ from: server.from.address, to: [envelope.to] }, envelope.letter, done))
    // The server has the letter. How it answers QUIT does not matter.
    smtp.quit()
  } catch (error) {
    throw error instanceof SmtpProblem || !isFailure(error) ? error : problemOf(error, server, envelope.to)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
    // An error that comes later has nobody to go to.
    broken.catch(() => undefined)
    socket.on("error", () => undefined)
    if (socket.connecting) socket.destroy()
    smtp.close()
  }
}

const connectionOptions = ({ ca, from, host, port, tls }: MailServer): SMTPConnectionOptions => ({
  host,
  port,
  // The name that the server is greeted with. Without it the machine's own name would be sent.
  name: from.address.slice(from.address.indexOf("@") + 1),
  secure: tls === "at_once",
  ignoreTLS: tls === "never",
  // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment changes nothing.
  tls: { rejectUnauthorized: true, minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) },
  maxResponseSize: MAX_REPLY_BYTES,
  connectionTimeout: CONVERSATION_MS,
  greetingTimeout: CONVERSATION_MS,
  socketTimeout: CONVERSATION_MS
})

const tooSlow = (): SmtpProblem =>
  new SmtpProblem(`the mail server did not take the letter within ${CONVERSATION_MS / 1_000} seconds`)

/** Error of nodemailer. A system error has `code` alone. */
interface Failure {
  readonly code: string
  readonly originalCode?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
  readonly message: string
}

/** A defect has no code. It stays what it is. */
const isFailure = (error: unknown): error is Failure =>
  error instanceof Error && "code" in error && typeof error.code === "string"

const REFUSED: { readonly [command: string]: string } = {
  CONN: "greeted with",
  EHLO: "answered EHLO with",
  HELO: "answered HELO with",
  STARTTLS: "answered STARTTLS with",
  "MAIL FROM": "did not take the sender",
  "RCPT TO": "did not take the recipient",
  DATA: "did not take the letter"
}

const problemOf = (failure: Failure, server: MailServer, to: string): SmtpProblem => {
  const { code, command = "CONN", message, originalCode, response, responseCode } = failure
  // A server's words may repeat what it was sent, so of these replies only the code is shown.
  if (code === "EAUTH") {
    return new SmtpProblem(`the mail server did not take user and password (${responseCode ?? "no code"})`)
  }
  if (response !== undefined && responseCode === undefined) {
    return new SmtpProblem("the other end does not speak SMTP. Is host and port a mail server's?")
  }
  if (response !== undefined) {
    const words = response
      .split(/\r?\n/)
      .map((line) => line.slice(4))
      .join(" ")
    const what = REFUSED[command] ?? "answered"
    return new SmtpProblem(`the mail server ${what} ${responseCode} ${shown(words, server, to)}`.trim())
  }
  if (code === "EPROTOCOL" && message.includes("maximum allowed size")) {
    return new SmtpProblem("the mail server's reply does not end")
  }
  if (code === "ETIMEDOUT" && originalCode === undefined && command === "CONN") return tooSlow()
  if (code === "ECONNECTION" || (code === "ETLS" && originalCode === undefined)) {
    return new SmtpProblem("the mail server closed the connection")
  }
  return new SmtpProblem(`the connection to the mail server broke (${originalCode ?? code})`)
}

/** The server's words without whom the letter is for or who we are. */
const shown = (words: string, { from, login }: MailServer, to: string): string => {
  const own = login === null ? [] : [login.user, login.password]
  return [to, to.slice(0, to.lastIndexOf("@")), from.address, ...own]
    .filter((secret) => secret !== "")
    .reduce((text, secret) => text.split(secret).join("…"), words)
    .replace(/[^\x20-\x7e…]/g, "?")
    .slice(0, MAX_SHOWN_CHARACTERS)
}
