import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { decode } from "./decode.ts"
import { isMailAddress } from "./mail-address.ts"
import { WebhookCreate } from "../webhooks.ts"

const decoder = decode(WebhookCreate)
const isTaken = (address: string): boolean =>
  Result.isSuccess(decoder({ url: "https://a.example/", events: ["key.minted"], notify_email: address }, "body"))

describe("an address that letters are sent to", () => {
  it.each([
    "a@b",
    "first.last+tag@mail.example.co",
    "o'neil!#$%&*/=?^_`{|}~-@x-1.example",
    `${"a".repeat(64)}@example.com`
  ])("may be %s", (address) => {
    assert.isTrue(isMailAddress(address))
    assert.isTrue(isTaken(address))
  })

  it.each([
    "ops@münchen.de",
    "ü@example.com",
    "a..b@example.com",
    ".a@b.c",
    "a.@b.c",
    `${"a".repeat(65)}@example.com`,
    "a@-x_y.com",
    "a@x_y.com",
    "a@b-",
    "a@b.",
    "a@b..c",
    `a@${"b".repeat(64)}.c`,
    "a@[127.0.0.1]",
    '"a b"@c.d',
    "a@b\r\nBcc: x@y",
    "Ada <a@b.c>",
    "a@b.c, d@e.f"
  ])("is none of the form %j", (address) => {
    assert.isFalse(isMailAddress(address))
    assert.isFalse(isTaken(address))
  })

  it("is parsed in linear time, however long", () => assert.isFalse(isMailAddress(`${"a.".repeat(100_000)}@`)))
})
