import { describe, expect, test } from "vitest"
import { addressProblem, writeLetter } from "./letter.ts"

const from = { name: null, address: "flyball@example.com" }
const mail = { to: "owner@example.org", subject: "Webhook wh_1 failed", text: "It failed.\n", messageId: "mail_1" }
const headersOf = (letter: string): ReadonlyArray<string> => letter.slice(0, letter.indexOf("\r\n\r\n")).split("\r\n")
const textOf = (letter: string): string =>
  Buffer.from(letter.slice(letter.indexOf("\r\n\r\n") + 4), "base64").toString()
/** As a mail reader unfolds and decodes a header. */
const decoded = (letter: string, name: string): string =>
  letter
    .replace(/\r\n /g, "")
    .split("\r\n")
    .find((line) => line.startsWith(`${name}: `))!
    .slice(name.length + 2)
    .replace(/=\?UTF-8\?B\?([^?]*)\?=/g, (_, base64: string) => Buffer.from(base64, "base64").toString())

describe("a letter", () => {
  test("is a plain text with the headers that a reader needs", () => {
    expect(writeLetter(mail, { name: "Flyball", address: "flyball@example.com" }, 1_700_000_000_000)).toBe(
      [
        "Date: Tue, 14 Nov 2023 22:13:20 +0000",
        "From: =?UTF-8?B?Rmx5YmFsbA==?= <flyball@example.com>",
        "To: owner@example.org",
        "Message-ID: <mail_1@example.com>",
        "Subject: Webhook wh_1 failed",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: base64",
        "",
        "SXQgZmFpbGVkLg0K",
        ""
      ].join("\r\n")
    )
  })

  test.each([
    "a\r\nBcc: everybody@example.com",
    "a\nBcc: x",
    "a\rBcc: x",
    "\r\n\r\nbody",
    "a\u0085Bcc: x",
    "a\u2028Bcc: x",
    "=?UTF-8?Q?a=0D=0ABcc:_x?=",
    "ü".repeat(300),
    "x".repeat(900),
    "🂡".repeat(99),
    "\ud800 alone",
    "",
    " "
  ])("takes any subject, and no line of it is a header: %j", (subject) => {
    const letter = writeLetter({ ...mail, subject }, from, 0)
    expect(
      headersOf(letter)
        .map((line) => /^[A-Za-z-]+(?=:)/.exec(line)?.[0] ?? (line.startsWith(" =?UTF-8?B?") ? "folded" : line))
        .filter((name) => name !== "folded")
    ).toEqual([
      "Date",
      "From",
      "To",
      "Message-ID",
      "Subject",
      "Auto-Submitted",
      "MIME-Version",
      "Content-Type",
      "Content-Transfer-Encoding"
    ])
    expect(Math.max(...headersOf(letter).map((line) => line.length))).toBeLessThanOrEqual(90)
    expect(letter).toMatch(/^[\x20-\x7e\r\n]*$/)
    expect(letter.replace(/\r\n/g, "")).not.toMatch(/[\r\n]/)
    expect(decoded(letter, "Subject")).toBe(
      subject
        .toWellFormed()
        .replace(/\p{Cc}+/gu, " ")
        .trim()
    )
    expect(textOf(letter)).toBe("It failed.\r\n")
  })

  test("takes any text, in lines that no server reads", () => {
    const text = `.\r\n..\n\rQUIT\r\n${"ü".repeat(2_000)}\n.\n`
    const letter = writeLetter({ ...mail, text }, from, 0)
    expect(textOf(letter)).toBe(`.\r\n..\r\n\r\nQUIT\r\n${"ü".repeat(2_000)}\r\n.\r\n`)
    expect(
      letter
        .slice(letter.indexOf("\r\n\r\n"))
        .split("\r\n")
        .every((line) => /^[A-Za-z0-9+/=]{0,76}$/.test(line))
    ).toBe(true)
  })

  test("keeps a message id that has a domain, and refuses one that could be a header", () => {
    expect(writeLetter({ ...mail, messageId: "<a.b@c.example>" }, from, 0)).toContain(
      "\r\nMessage-ID: <a.b@c.example>\r\n"
    )
    for (const messageId of ["a>\r\nBcc: x", "", "a b", "<a@b@c>", "ä"])
      expect(() => writeLetter({ ...mail, messageId }, from, 0)).toThrow(/message id/)
  })

  test.each([
    "a@b\r\nBcc: x@y",
    "a@b\r\n",
    "a@b>\r\nRCPT TO:<x@y",
    "a",
    "@b",
    "a@",
    "a b@c",
    "<a@b>",
    "A <a@b>",
    "a@b,c@d",
    "a@b c@d",
    '"a b"@c',
    "a@[127.0.0.1]",
    "ü@example.com",
    "a@exämple.com",
    ".a@b",
    "a.@b",
    "a..b@c",
    `${"a".repeat(65)}@b`,
    `a@${"b".repeat(64)}`,
    `a@${"b.".repeat(130)}c`,
    "a@-b",
    "a@b.",
    "a@@b",
    "a\0@b",
    ""
  ])("is not written to %j", (to) => {
    expect(addressProblem(to)).toMatch(/owner@example\.com/)
    expect(() => writeLetter({ ...mail, to }, from, 0)).toThrow(/an e-mail address/)
  })

  test.each(["a@b", "first.last+tag@mail.example.co", "o'neil!#$%&*/=?^_`{|}~-@x-1.example", "A@B.C"])(
    "may be written to %s",
    (to) => {
      expect(headersOf(writeLetter({ ...mail, to }, from, 0))).toContain(`To: ${to}`)
    }
  )
})
