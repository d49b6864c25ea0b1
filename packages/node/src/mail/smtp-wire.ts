/** Replies and commands of SMTP over a socket. Spec: RFC 5321 sections 4.1 and 4.2. */
import type { Socket } from "node:net"

/** A server's reply: its code and its lines without it. */
export interface Reply {
  readonly code: number
  readonly lines: ReadonlyArray<string>
}

/** What ended a conversation, as a sentence that shows nothing that was sent. */
export class SmtpProblem extends Error {}

/** Unit: bytes. A reply that is longer is no reply. */
const MAX_REPLY_BYTES = 65_536

/** One conversation's side of a socket. */
export interface SmtpWire {
  readonly reply: () => Promise<Reply>
  readonly write: (text: string) => void
  /** Stops reading. Throws when the server has said something that nobody asked for: behind STARTTLS it would count as said under TLS. */
  readonly release: () => void
}

/** Reads replies from this socket until it is released or ends. */
export const smtpWire = (socket: Socket): SmtpWire => {
  let buffer = ""
  let problem: Error | null = null
  let waiting: { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void } | null = null

  const settle = (): void => {
    if (waiting === null) return
    const { reject, resolve } = waiting
    const read = readReply(buffer)
    if (read === null && problem === null) return
    waiting = null
    if (read === null) return reject(problem!)
    buffer = buffer.slice(read.length)
    if (read.reply === null) reject(new SmtpProblem("the other end does not speak SMTP. Is host and port a mail server's?"))
    else resolve(read.reply)
  }
  const onData = (chunk: Buffer): void => {
    buffer += chunk.toString("latin1")
    if (buffer.length > MAX_REPLY_BYTES) {
      problem = new SmtpProblem("the mail server's reply does not end")
      buffer = ""
      socket.destroy()
    }
    settle()
  }
  const onEnd = (): void => {
    problem ??= new SmtpProblem("the mail server closed the connection")
    settle()
  }
  const onError = (error: Error): void => {
    problem ??= new SmtpProblem(`the connection to the mail server broke (${"code" in error ? String(error.code) : "unknown cause"})`)
    settle()
  }
  socket.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onError)

  return {
    reply: () => new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      settle()
    }),
    write: (text) => { socket.write(text) },
    release: () => {
      socket.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onError)
      if (buffer !== "") throw new SmtpProblem("the mail server said more than it was asked before TLS began, which somebody in between may have put there")
    }
  }
}

/** The first whole reply of the text, null in it when it is none; null alone when it is not whole yet. */
const readReply = (text: string): { readonly reply: Reply | null; readonly length: number } | null => {
  const lines: Array<string> = []
  let at = 0
  for (;;) {
    const end = text.indexOf("\n", at)
    if (end < 0) return null
    const match = /^([2-5][0-9]{2})([ -]?)(.*)$/.exec(text.slice(at, end).replace(/\r$/, ""))
    at = end + 1
    if (match === null) return { reply: null, length: at }
    lines.push(match[3]!)
    if (match[2] !== "-") return { reply: { code: Number(match[1]), lines }, length: at }
  }
}
