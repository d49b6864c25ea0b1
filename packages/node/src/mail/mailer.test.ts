import { createServer, type Socket } from "node:net"
import { createServer as createTlsServer, TLSSocket } from "node:tls"
import { type Mail, Mailer, MailFailed } from "@flyball/core"
import { Effect, Logger } from "effect"
import { afterEach, describe, expect, test, vi } from "vitest"
import { testAuthority } from "../testing/certificate.ts"
import { closed, listening } from "../testing/receiver.ts"
import { logMailer, MailInvalid, mailProblem, openSmtpMailer, smtpMailer } from "./mailer.ts"
import { readMailOptions } from "./settings.ts"
import { CONVERSATION_MS, sendLetter } from "./smtp-send.ts"

const mail: Mail = {
  to: "owner@example.org",
  subject: "Webhook wh_1 failed",
  text: "It failed.\n.\n",
  messageId: "mail_1"
}
const from = "flyball@example.com"
const opened: Array<() => unknown> = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of opened.splice(0).toReversed()) await close()
})

/** Answers each line by a script, and keeps the lines it received. */
const serve = (
  socket: Socket,
  commands: Array<string>,
  answer: (line: string, socket: Socket) => string | null
): void => {
  let rest = ""
  socket
    .on("error", () => undefined)
    .on("data", (chunk) => {
      const lines = (rest + chunk.toString("latin1")).split("\r\n")
      rest = lines.pop()!
      for (const line of lines) {
        commands.push(line)
        const words = answer(line, socket)
        if (words !== null) socket.write(words)
      }
    })
}
const scripted = async (greeting: string, answer: (line: string, socket: Socket) => string | null) => {
  const commands: Array<string> = []
  const server = createServer((socket) => {
    opened.push(() => socket.destroy())
    serve(socket, commands, answer)
    if (greeting !== "") socket.write(greeting)
  })
  const port = await listening(server)
  opened.push(() => closed(server))
  return { port, commands }
}
const willing = () => {
  let inLetter = false
  return (line: string): string | null => {
    if (inLetter && line !== ".") return null
    inLetter = line === "DATA"
    return line.startsWith("EHLO")
      ? "250-mail.example\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n"
      : inLetter
        ? "354 go on\r\n"
        : line === "QUIT"
          ? "221 bye\r\n"
          : "250 2.0.0 fine\r\n"
  }
}
/** Willing but for the lines that this answers. */
const but = (answer: (line: string) => string | null): ((line: string) => string | null) => {
  const otherwise = willing()
  return (line: string): string | null => answer(line) ?? otherwise(line)
}
const failure = (sent: Promise<void>): Promise<unknown> =>
  sent.then(
    () => "sent",
    (error: unknown) => error
  )

describe("a server that does not do its part", () => {
  test("offers no STARTTLS: nothing of the letter is sent", async () => {
    const { port, commands } = await scripted("220 hi\r\n", willing())
    const problem = await failure(openSmtpMailer({ url: `smtp://me:hunter2@127.0.0.1:${port}`, from }).send(mail))
    expect(problem).toBeInstanceOf(MailFailed)
    expect(String(problem)).toMatch(/offers no STARTTLS/)
    expect(commands).toEqual(["EHLO example.com"])
  })

  test("sends data between STARTTLS and TLS: the data is discarded", async () => {
    const authority = testAuthority()
    const underTls: Array<string> = []
    const { port, commands } = await scripted("220 hi\r\n", (line, socket) => {
      if (line !== "STARTTLS") return "250-mail.example\r\n250 STARTTLS\r\n"
      socket.removeAllListeners("data")
      // One write, so that all of it is there before TLS begins: an answer to the next EHLO, and a refused login.
      socket.write("220 go\r\n250-injected\r\n250 AUTH LOGIN\r\n535 5.7.8 no\r\n250-cut")
      const offers = but((words) => (words.startsWith("AUTH PLAIN ") ? "235 2.7.0 welcome\r\n" : null))
      serve(new TLSSocket(socket, { isServer: true, ...authority.issue(["127.0.0.1"]) }), underTls, offers)
      return null
    })
    await openSmtpMailer({ url: `smtp://me:hunter2@127.0.0.1:${port}`, from, ca: authority.ca }).send(mail)
    expect(commands).toEqual(["EHLO example.com", "STARTTLS"])
    const login = `AUTH PLAIN ${Buffer.from("\0me\0hunter2").toString("base64")}`
    expect(underTls.slice(0, 3)).toEqual(["EHLO example.com", login, "MAIL FROM:<flyball@example.com>"])
  })

  test("offers no AUTH under TLS: the password is not sent", async () => {
    const authority = testAuthority()
    const commands: Array<string> = []
    const server = createTlsServer(authority.issue(["127.0.0.1"]), (socket) => {
      opened.push(() => socket.destroy())
      serve(socket, commands, (line) => (line.startsWith("EHLO") ? "250 mail.example\r\n" : "250 2.0.0 fine\r\n"))
      socket.write("220 hi\r\n")
    })
    const port = await listening(server)
    opened.push(() => closed(server))
    const sent = openSmtpMailer({ url: `smtps://me:hunter2@127.0.0.1:${port}`, from, ca: authority.ca }).send(mail)
    expect(String(await failure(sent))).toMatch(/offers no AUTH/)
    expect(commands).toEqual(["EHLO example.com"])
  })

  test.each([
    [
      "refuses the recipient",
      but((line) =>
        line.startsWith("RCPT")
          ? "550-5.1.1 <owner@example.org> is not here\r\n550 5.1.1 ask flyball@example.com about owner\r\n"
          : null
      ),
      /did not take the recipient 550 5\.1\.1 <…> is not here 5\.1\.1 ask … about …$/
    ],
    [
      "refuses the sender",
      but((line) => (line.startsWith("MAIL") ? "553 5.7.1 no\x1b[31m\r\n" : null)),
      /did not take the sender 553 5\.7\.1 no\?\[31m$/
    ],
    [
      "refuses the letter",
      but((line) => (line === "." ? "554 5.6.0 spam\r\n" : null)),
      /did not take the letter 554 5\.6\.0 spam/
    ],
    [
      "speaks of something else",
      (line: string) => (/^(EHLO|HELO) /.test(line) ? "HTTP/1.1 400 Bad Request\r\n" : null),
      /does not speak SMTP/
    ],
    ["hangs up", (_: string, socket: Socket): null => (socket.end(), null), /closed the connection/],
    [
      "breaks off",
      (_: string, socket: Socket): null => (socket.resetAndDestroy(), null),
      /broke \(ECONNRESET\)|closed/
    ],
    [
      "never ends a reply",
      (_: string, socket: Socket): null => (socket.write("250-x\r\n".repeat(20_000)), null),
      /does not end/
    ]
  ] as const)("%s", async (_, answer, why) => {
    const { port } = await scripted("220 hi\r\n", answer)
    const problem = await failure(openSmtpMailer({ url: `smtp://127.0.0.1:${port}?starttls=never`, from }).send(mail))
    expect(problem).toBeInstanceOf(MailFailed)
    expect(String(problem)).toMatch(why)
    expect(String(problem)).not.toMatch(/owner|hunter2/)
  })

  test("never answers: the attempt ends after thirty seconds", async () => {
    let reached!: () => void
    const there = new Promise<void>((resolve) => {
      reached = resolve
    })
    const { port } = await scripted("220 hi\r\n", () => (reached(), null))
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const sent = failure(openSmtpMailer({ url: `smtp://127.0.0.1:${port}?starttls=never`, from }).send(mail))
    await there
    vi.advanceTimersByTime(CONVERSATION_MS - 1)
    expect(await Promise.race([sent, new Promise((resolve) => setImmediate(() => resolve("open")))])).toBe("open")
    vi.advanceTimersByTime(1)
    expect(String(await sent)).toMatch(/within 30 seconds/)
  })

  test("is disconnected when sending is aborted", async () => {
    let left!: () => void
    const gone = new Promise<void>((resolve) => {
      left = resolve
    })
    let reached!: () => void
    const there = new Promise<void>((resolve) => {
      reached = resolve
    })
    const { port } = await scripted("220 hi\r\n", (_, socket) => (socket.once("end", left), reached(), null))
    const server = readMailOptions({ url: `smtp://127.0.0.1:${port}?starttls=never`, from })
    if (typeof server === "string") throw new Error(server)
    const stop = new AbortController()
    const sent = failure(sendLetter(server, { to: mail.to, letter: "" }, stop.signal))
    await there
    stop.abort()
    expect(String(await sent)).toMatch(/called off/)
    await gone
    expect(String(await failure(sendLetter(server, { to: mail.to, letter: "" }, stop.signal)))).toMatch(/called off/)
  })

  test("is unreachable, or does not speak TLS where it is expected", async () => {
    const gone = createServer()
    const port = await listening(gone)
    await closed(gone)
    expect(String(await failure(openSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from }).send(mail)))).toMatch(
      /ECONNREFUSED/
    )
    const plain = await scripted("220 hi\r\n", willing())
    expect(
      String(
        await failure(
          openSmtpMailer({ url: `smtps://127.0.0.1:${plain.port}`, from, ca: testAuthority().ca }).send(mail)
        )
      )
    ).toMatch(/broke \(/)
  })
})

describe("a letter", () => {
  test("is sent line by line according to the protocol", async () => {
    let leave!: () => void
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const { port, commands } = await scripted(
      "220-hi\r\n220 there\r\n",
      but((line) => (line === "QUIT" ? (leave(), "221 bye\r\n") : null))
    )
    await openSmtpMailer({ url: `smtp://127.0.0.1:${port}?starttls=never`, from }).send(mail)
    await left
    expect([commands.slice(0, 4), commands.slice(-3)]).toEqual([
      ["EHLO example.com", "MAIL FROM:<flyball@example.com>", "RCPT TO:<owner@example.org>", "DATA"],
      [Buffer.from("It failed.\r\n.\r\n").toString("base64"), ".", "QUIT"]
    ])
  })

  test("keeps its lines that begin with a dot", async () => {
    const { port, commands } = await scripted("220 hi\r\n", willing())
    const server = readMailOptions({ url: `smtp://127.0.0.1:${port}?starttls=never`, from })
    if (typeof server === "string") throw new Error(server)
    await sendLetter(server, { to: mail.to, letter: ".\r\n..\r\na.\r\n" }, new AbortController().signal)
    expect(commands.slice(4, 8)).toEqual(["..", "...", "a.", "."])
  })

  test("that is invalid is never sent to a server", async () => {
    const { port, commands } = await scripted("220 hi\r\n", willing())
    const mailer = openSmtpMailer({ url: `smtp://127.0.0.1:${port}?starttls=never`, from })
    for (const wrong of [{ to: "a@b>\r\nRCPT TO:<x@y" }, { messageId: "x\r\nBcc: y" }])
      expect(await failure(mailer.send({ ...mail, ...wrong }))).toBeInstanceOf(MailFailed)
    expect(commands).toEqual([])
  })

  test("is logged where no server is set, without its recipient and content", async () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      logged.push(`${logLevel} ${String(message)}`)
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* (yield* Mailer).send({ ...mail, subject: "Webhook wh_1\r\nfailed" })
      }).pipe(Effect.provide([logMailer, Logger.layer([logger])]))
    )
    expect(logged).toEqual(["Warn A letter was not sent, since no mail server is set: Webhook wh_1 failed (mail_1)"])
  })

  test("is refused with invalid settings", async () => {
    expect(() => openSmtpMailer({ url: "http://h", from })).toThrow(MailInvalid)
    expect(
      (await Effect.runPromise(Effect.flip(Effect.provide(Mailer, smtpMailer({ url: "smtp://h", from: "x" })))))._tag
    ).toBe("MailInvalid")
    expect([mailProblem({ url: "smtp://h", from }), mailProblem({ url: "smtp://h", from: "x" })]).toEqual([
      null,
      expect.stringMatching(/letters are from/)
    ])
  })
})
