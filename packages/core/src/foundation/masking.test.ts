import { assert, describe, it } from "vitest"
import { maskFields } from "./masking.ts"

const masked = (name: string, value: string): string => maskFields({ [name]: value })[name]!

describe("masking", () => {
  it.each([
    ["4111111111111111", "************1111"],
    ["4111 1111 1111 1111", "**** **** **** 1111"],
    ["3782-822463-10005", "****-******-*0005"],
    ["paid with 5555 5555 5555 4444 12/27, thanks", "paid with **** **** **** 4444 12/27, thanks"],
    ["PAN4111111111111111", "PAN************1111"],
    ["１２３ 4111111111111111", "123 ************1111"],
    ["two: 4111111111111111, 5555555555554444", "two: ************1111, ************4444"]
  ])("hides a card number wherever it stands: %s", (value, shown) => assert.strictEqual(masked("note", value), shown))

  it.each([
    ["GB82 WEST 1234 5698 7654 32", "**** **** **** **** **54 32"],
    ["DE89370400440532013000", "******************3000"],
    ["to gb82west12345698765432 please", "to ******************5432 please"],
    ["IBAN: FR14 2004 1010 0505 0001 3M02 606 is it", "IBAN: **** **** **** **** **** ***2 606 is it"]
  ])("hides an IBAN wherever it stands: %s", (value, shown) => assert.strictEqual(masked("note", value), shown))

  it.each([
    ["passport_number", "X1234567", "****4567"],
    ["Passport No.", "X 1234567", "* ***4567"],
    ["national_id", "850101-1234-5", "******-*234-5"],
    ["Aadhaar", "2345 6789 0123", "**** **** 0123"],
    ["PAN", "ABCDE1234F", "******234F"],
    ["ssn", "078-05-1120", "***-**-1120"],
    ["id_number", "AB123456C", "*****456C"],
    ["card_number", "4111 1111 1111 1112", "**** **** **** 1112"],
    ["drivers_license", "D1234567", "****4567"]
  ])("hides what a field identifies by its name: %s", (name, value, shown) =>
    assert.strictEqual(masked(name, value), shown)
  )

  it.each([
    ["note", "4111111111111112"],
    ["note", "GB82 WEST 1234 5698 7654 33"],
    ["note", "order 1234 5678"],
    ["total", "1234567890.00"],
    ["passport_expiry", "2031-05-04"],
    ["passport_expiry", "04 MAY 2031"],
    ["passport_country", "India"],
    ["identity", "1234567"],
    ["company", "Panasonic 12345678"],
    ["name", "ﬁne"]
  ])("leaves what identifies nobody: %s %s", (name, value) => assert.strictEqual(masked(name, value), value))

  it("takes time in proportion to the text", () => {
    const value = "4111 1111 1111 1112 ".repeat(5_000)
    assert.strictEqual(masked("note", value).length, value.length)
  })
})
