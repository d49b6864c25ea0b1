/** Against a mail server from npm (`smtp-server`), over real sockets and TLS. */
import { createRequire } from "node:module"
import type { Server } from "node:net"
import type { Readable } from "node:stream"
import { Mailer, MailFailed } from "@flyball/core"
import { Effect } from "effect"
import { afterEach, describe, expect, test } from "vitest"
import { testAuthority } from "../testing/certificate.ts"
import { listening } from "../testing/receiver.ts"
import { openSmtpMailer, smtpMailer } from "./mailer.ts"

interface Session {
  readonly secure: boolean
  readonly user?: string
  readonly envelope: {
    readonly mailFrom: { readonly address: string }
    readonly rcptTo: ReadonlyArray<{ readonly address: string }>
  }
}
type Callback = (error?: Error | null, answer?: { readonly user: string }) => void
interface Options {
  readonly secure?: boolean
  readonly key: string
  readonly cert: string
  readonly authMethods?: ReadonlyArray<string>
  readonly authOptional?: boolean
  readonly disabledCommands?: ReadonlyArray<string>
  readonly onAuth: (
    auth: { readonly method: string; readonly username: string; readonly password: string },
    session: Session,
    callback: Callback
  ) => void
  readonly onData: (stream: Readable, session: Session, callback: Callback) => void
}
// It brings no types, so what is used of it is written down above.
const { SMTPServer } = createRequire(import.meta.url)("smtp-server") as {
  readonly SMTPServer: new (options: Options) => {
    readonly server: Server
    readonly close: (done: () => void) => void
    readonly on: (event: "error", listener: () => void) => void
  }
}

const authority = testAuthority()
const from = "Flyball <flyball@example.com>"
const mail = {
  to: "owner@example.org",
  subject: "Überfällig\r\nBcc: everybody@example.com",
  text: "Zeile 1\n.\nQUIT\r\n..Zeile 4 ü\n",
  messageId: "mail_7f"
}
const opened: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

interface Taken {
  readonly letter: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly secure: boolean
  readonly user: string | undefined
}
const mailServer = async (options: Partial<Options> = {}, names: ReadonlyArray<string> = ["127.0.0.1"]) => {
  const taken: Array<Taken> = []
  const logins: Array<string> = []
  const server = new SMTPServer({
    ...authority.issue(names),
    onAuth: ({ method, password, username }, session, callback) => {
      logins.push(`${method} ${session.secure}`)
      if (username === "me" && password === "p:@ü s") callback(null, { user: username })
      else callback(new Error(`no such user ${username} with ${password}`))
    },
    onData: (stream, session, callback) => {
      const chunks: Array<Buffer> = []
      stream
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          taken.push({
            letter: Buffer.concat(chunks).toString("latin1"),
            from: session.envelope.mailFrom.address,
            to: session.envelope.rcptTo.map(({ address }) => address),
            secure: session.secure,
            user: session.user
          })
          callback()
        })
    },
    ...options
  })
  server.on("error", () => undefined)
  const port = await listening(server.server)
  opened.push(() => new Promise((resolve) => server.close(resolve)))
  return { port, taken, logins }
}
const login = `${encodeURIComponent("me")}:${encodeURIComponent("p:@ü s")}@`
const bodyOf = (letter: string): string =>
  Buffer.from(letter.slice(letter.indexOf("\r\n\r\n") + 4), "base64").toString()

describe("over a real mail server", () => {
  test.each([
    ["STARTTLS and PLAIN", "smtp", {}, "PLAIN"],
    ["TLS from the start", "smtps", { secure: true }, "PLAIN"],
    ["AUTH LOGIN", "smtp", { authMethods: ["LOGIN"] }, "LOGIN"]
  ] as const)("%s: the letter arrives as it was written", async (_, scheme, options, method) => {
    const { logins, port, taken } = await mailServer(options)
    await openSmtpMailer({ url: `${scheme}://${login}127.0.0.1:${port}`, from, ca: authority.ca }).send(mail)
    expect(taken).toMatchObject([{ from: "flyball@example.com", to: ["owner@example.org"], secure: true, user: "me" }])
    expect(logins).toEqual([`${method} true`])
    expect(bodyOf(taken[0]!.letter)).toBe("Zeile 1\r\n.\r\nQUIT\r\n..Zeile 4 ü\r\n")
    expect(taken[0]!.letter.match(/^bcc:/gim)).toBeNull()
    expect(taken[0]!.letter).toContain("\r\nMessage-ID: <mail_7f@example.com>\r\n")
  })

  test("without TLS where the settings say so, and then without a password", async () => {
    const { port, taken } = await mailServer({ authOptional: true, disabledCommands: ["STARTTLS"] })
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* (yield* Mailer).send(mail)
      }).pipe(Effect.provide(smtpMailer({ url: `smtp://127.0.0.1:${port}?starttls=never`, from })))
    )
    expect(taken).toMatchObject([{ secure: false }])
  })

  test.each([
    [
      "a password that is wrong",
      `smtp://me:hunter2@127.0.0.1`,
      authority.ca,
      /did not take user and password \(535\)$/
    ],
    ["a certificate that nobody vouches for", `smtp://${login}127.0.0.1`, testAuthority().ca, /broke \(/],
    [
      "a certificate for another name",
      `smtp://${login}localhost`,
      authority.ca,
      /broke \(ERR_TLS_CERT_ALTNAME_INVALID\)/
    ]
  ])("%s: the letter fails, and the reason holds no password", async (_, url, ca, why) => {
    const { logins, port, taken } = await mailServer()
    const problem = await openSmtpMailer({ url: `${url}:${port}`, from, ca })
      .send(mail)
      .then(
        () => null,
        (error: unknown) => error
      )
    expect(problem).toBeInstanceOf(MailFailed)
    expect(String(problem)).toMatch(why)
    expect(String(problem)).not.toMatch(/hunter2|p:@/)
    expect([taken.length, logins.length]).toEqual([0, url.includes("hunter2") ? 1 : 0])
  })
})
