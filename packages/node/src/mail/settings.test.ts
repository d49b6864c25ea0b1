import { describe, expect, test } from "vitest"
import { readMailOptions } from "./settings.ts"

const from = "Flyball <flyball@example.com>"

describe("the settings of a mail server", () => {
  test("are read", () => {
    expect(readMailOptions({ url: "smtp://Mail.Example.com", from })).toEqual({
      host: "mail.example.com",
      port: 587,
      tls: "starttls",
      login: null,
      from: { name: "Flyball", address: "flyball@example.com" },
      ca: undefined
    })
    expect(
      readMailOptions({ url: "smtps://me%40x:p%25%3A%2f@mail.example.com/", from: "flyball@example.com" })
    ).toMatchObject({
      port: 465,
      tls: "at_once",
      login: { user: "me@x", password: "p%:/" },
      from: { name: null, address: "flyball@example.com" }
    })
    expect(
      readMailOptions({ url: "smtp://[::1]:2525?starttls=never", from: '"Fly, ball" <f@example.com>' })
    ).toMatchObject({ host: "::1", port: 2525, tls: "never", from: { name: "Fly, ball" } })
  })

  test.each([
    [undefined, /an object with url and from/],
    ["smtp://u:hunter2@h", /an object with url and from/],
    [{ from }, /url is expected to be a string/],
    [{ url: new URL("smtp://u:hunter2@h"), from }, /url is expected to be a string/],
    [{ url: "smtp://h" }, /from is expected to be a string/],
    [{ url: "smtp://h", from, ca: ["hunter2"] }, /ca is expected to be a string/]
  ])("that have not their shape are refused: %j", (options, why) => {
    expect(readMailOptions(options as unknown as Parameters<typeof readMailOptions>[0])).toMatch(why)
    expect(readMailOptions(options as unknown as Parameters<typeof readMailOptions>[0])).not.toMatch(/hunter2/)
  })

  test.each([
    ["mail.example.com:25", from, /is named as smtp/],
    ["http://mail.example.com", from, /is named as smtp/],
    ["smtp://", from, /is named as smtp/],
    ["smtp://mail example.com", from, /is named as smtp/],
    ["smtp://u:hunter2@h/x", from, /percent-encoded/],
    ["smtp://u:hunter2@h#x", from, /percent-encoded/],
    ["smtp://h?starttls=maybe", from, /only thing/],
    ["smtps://h?starttls=never", from, /only thing/],
    ["smtp://u:hunter2@h?starttls=never", from, /not sent without TLS/],
    ["smtp://u@h", from, /both there/],
    ["smtp://:hunter2@h", from, /both there/],
    ["smtp://u:hunter2%zz@h", from, /%25/],
    ["smtp://u:hunter2%00@h", from, /both there/],
    ["smtp://h", "", /letters are from/],
    ["smtp://h", "Flyball", /letters are from/],
    ["smtp://h", "a@b\r\nBcc: c@d", /letters are from/],
    ["smtp://h", "A\r\nBcc: x <a@b>", /letters are from/],
    ["smtp://h", "<a@b> c", /letters are from/]
  ])("%j with %j are refused, and no password is shown", (url, sender, why) => {
    expect(readMailOptions({ url, from: sender })).toMatch(why)
    expect(readMailOptions({ url, from: sender })).not.toMatch(/hunter2/)
  })
})
