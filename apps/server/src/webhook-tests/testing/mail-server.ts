/** A mail server from npm on the loopback address, which keeps what it takes. */
import { createRequire } from "node:module"
import type { AddressInfo, Server } from "node:net"
import type { Readable } from "node:stream"

interface Session {
  readonly envelope: { readonly rcptTo: ReadonlyArray<{ readonly address: string }> }
}
interface Options {
  readonly authOptional: boolean
  readonly disabledCommands: ReadonlyArray<string>
  readonly onConnect: (session: Session, callback: (error?: Error) => void) => void
  readonly onData: (stream: Readable, session: Session, done: () => void) => void
}
// It brings no types, so what is used of it is written down above.
const { SMTPServer } = createRequire(import.meta.url)("smtp-server") as {
  readonly SMTPServer: new (options: Options) => {
    readonly server: Server
    readonly close: (done: () => void) => void
    readonly on: (event: "error", listener: () => void) => void
  }
}

/** A letter as it was taken. */
export interface Letter {
  readonly to: ReadonlyArray<string>
  readonly head: string
  readonly text: string
}

/** Starts one that speaks without TLS. */
export const startMailServer = async () => {
  const letters: Array<Letter> = []
  /** The state in which it takes nobody in, and how many it refused. */
  const absence = { isAway: false, refused: 0 }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onConnect: (_, callback) => {
      if (!absence.isAway) return callback()
      absence.refused += 1
      callback(new Error("away"))
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Array<Buffer> = []
      stream
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          const whole = Buffer.concat(chunks).toString("latin1")
          const at = whole.indexOf("\r\n\r\n")
          letters.push({
            to: envelope.rcptTo.map(({ address }) => address),
            head: whole.slice(0, at),
            text: Buffer.from(whole.slice(at), "base64").toString()
          })
          done()
        })
    }
  })
  // It reports a rejected client as an error.
  server.on("error", () => undefined)
  await new Promise<void>((resolve) => server.server.listen(0, "127.0.0.1", resolve))
  return Object.assign(absence, {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}?starttls=never`,
    letters,
    close: () => new Promise<void>((resolve) => server.close(resolve))
  })
}
