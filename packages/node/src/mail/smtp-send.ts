/** Hands one letter over to a mail server: one connection a letter. Spec: RFC 5321, RFC 3207 (STARTTLS), RFC 4954 (AUTH). */
import { connect, isIP, type Socket } from "node:net"
import { connect as connectTls, type ConnectionOptions } from "node:tls"
import type { MailServer } from "./settings.ts"
import { type Reply, SmtpProblem, type SmtpWire, smtpWire } from "./smtp-wire.ts"

/** What is handed over. Addresses and letter were checked when they were written. */
export interface Envelope {
  readonly to: string
  readonly letter: string
}

/** Unit: milliseconds for the whole conversation. */
export const CONVERSATION_MS = 30_000
/** Unit: characters of a server's words that are shown. */
const MAX_SHOWN_CHARACTERS = 200

/**
 * Resolves once the server has taken the letter.
 *
 * - Fails: rejects with `SmtpProblem`, whose sentence holds no password and no recipient.
 */
export const sendLetter = async (server: MailServer, envelope: Envelope, signal: AbortSignal): Promise<void> => {
  const sockets: Array<Socket> = []
  let end!: (problem: SmtpProblem) => void
  const ended = new Promise<never>((_, reject) => { end = reject })
  const timer = setTimeout(() => end(new SmtpProblem(`the mail server did not take the letter within ${CONVERSATION_MS / 1_000} seconds`)), CONVERSATION_MS)
  const aborted = (): void => end(new SmtpProblem("the sending was called off"))
  signal.addEventListener("abort", aborted)
  try {
    await Promise.race([converse(server, envelope, (socket) => (sockets.push(socket), socket)), ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", aborted)
    // What was written last, QUIT, still goes out where it can.
    for (const socket of sockets.toReversed()) socket.on("error", () => undefined).destroySoon()
  }
}

const converse = async (server: MailServer, { letter, to }: Envelope, keep: (socket: Socket) => Socket): Promise<void> => {
  const { host, port } = server
  // The name as it is configured is what a certificate must be for.
  const tls: ConnectionOptions = { rejectUnauthorized: true, minVersion: "TLSv1.2", ...(isIP(host) === 0 ? { servername: host } : {}), ...(server.ca === undefined ? {} : { ca: server.ca }) }
  let socket = keep(server.tls === "at_once" ? connectTls({ ...tls, host, port }) : connect({ host, port }))
  let wire = smtpWire(socket)
  await expectCode(wire.reply(), [220], "greeted with", server, to)
  let offers = await hello(wire, server, to)
  if (server.tls === "starttls") {
    if (!offers.has("STARTTLS")) throw new SmtpProblem("the mail server offers no STARTTLS, so nothing was sent. Use smtps://, or ?starttls=never where the network is trusted")
    await say(wire, "STARTTLS", [220], "answered STARTTLS with", server, to)
    wire.release()
    socket = keep(connectTls({ ...tls, socket, host }))
    wire = smtpWire(socket)
    // What was offered before TLS counts no more.
    offers = await hello(wire, server, to)
  }
  if (server.login !== null) await logIn(wire, server, offers)
  await say(wire, `MAIL FROM:<${server.from.address}>`, [250], "did not take the sender", server, to)
  await say(wire, `RCPT TO:<${to}>`, [250, 251], "did not take the recipient", server, to)
  await say(wire, "DATA", [354], "answered DATA with", server, to)
  wire.write(dotted(letter))
  await say(wire, ".", [250], "did not take the letter", server, to)
  // It is taken; how the server says good-bye does not matter any more.
  wire.write("QUIT\r\n")
}

const hello = async (wire: SmtpWire, server: MailServer, to: string): Promise<ReadonlyMap<string, string>> => {
  const { lines } = await say(wire, `EHLO ${server.from.address.slice(server.from.address.indexOf("@") + 1)}`, [250], "answered EHLO with", server, to)
  return new Map(lines.slice(1).map((line) => {
    const [name = "", ...rest] = line.trim().toUpperCase().split(" ")
    return [name, rest.join(" ")]
  }))
}

const logIn = async (wire: SmtpWire, { login }: MailServer, offers: ReadonlyMap<string, string>): Promise<void> => {
  const { password, user } = login!
  const base64 = (text: string): string => Buffer.from(text).toString("base64")
  const ways = (offers.get("AUTH") ?? "").split(" ")
  // A server's words may repeat what it was told, so of these replies only the code is shown.
  const step = async (line: string, code: number): Promise<void> => {
    wire.write(`${line}\r\n`)
    const reply = await wire.reply()
    if (reply.code !== code) throw new SmtpProblem(`the mail server did not take user and password (${reply.code})`)
  }
  if (ways.includes("PLAIN")) return step(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 235)
  if (!ways.includes("LOGIN")) throw new SmtpProblem("the mail server offers neither AUTH PLAIN nor AUTH LOGIN, and a user and password are set")
  await step("AUTH LOGIN", 334)
  await step(base64(user), 334)
  await step(base64(password), 235)
}

const say = (wire: SmtpWire, line: string, codes: ReadonlyArray<number>, what: string, server: MailServer, to: string): Promise<Reply> => {
  wire.write(`${line}\r\n`)
  return expectCode(wire.reply(), codes, what, server, to)
}

const expectCode = async (waited: Promise<Reply>, codes: ReadonlyArray<number>, what: string, server: MailServer, to: string): Promise<Reply> => {
  const reply = await waited
  if (codes.includes(reply.code)) return reply
  throw new SmtpProblem(`the mail server ${what} ${reply.code} ${shown(reply.lines.join(" "), server, to)}`.trim())
}

/** The server's words without whom the letter is for or who we are. */
const shown = (words: string, { from, login }: MailServer, to: string): string =>
  [to, to.slice(0, to.lastIndexOf("@")), from.address, ...(login === null ? [] : [login.user, login.password])].filter((secret) => secret !== "")
    .reduce((text, secret) => text.split(secret).join("…"), words).replace(/[^\x20-\x7e…]/g, "?").slice(0, MAX_SHOWN_CHARACTERS)

/** A line that begins with a dot gets another one, so that none ends the letter. */
const dotted = (letter: string): string => letter.replace(/^\./gm, "..")
