import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ReceivedJson } from "../../capture/received-json.ts"
import { inexactness, memberText, receivedValue } from "./json-text.ts"

describe("a JSON text as it was received", () => {
  it.each([
    ["9007199254740993", "inexact_number"],
    ['{"id":1915883588174806058,"f":1.10}', "inexact_number"],
    ["[1E400]", "inexact_number"],
    ["0.1000000000000000055511151231257827", "inexact_number"],
    ['{"a":1,"\\u0061":2}', "duplicate_name"],
    ['[{"a":{"a":1}},{"a":["a","a"]}]', null],
    ['{"a":"9007199254740993 \\" {","f":1.10,"g":-0.0,"h":1e2,"i":9007199254740994,"j":true,"k":null}', null]
  ])("says whether its value says the same: %s", (text, reason) => {
    assert.strictEqual(inexactness(text), reason)
    assert.strictEqual(receivedValue(text) instanceof ReceivedJson, reason !== null)
  })

  it("has the members that a parser finds, with blanks and names of any kind", () => {
    const json = fc.jsonValue()
    const pretty = fc.constantFrom(undefined, 1, "\t")
    fc.assert(
      fc.property(fc.string(), json, json, pretty, (name, inner, other, indent) => {
        const value = { before: other, [name]: { wanted: inner, list: [other, { wanted: other }] }, after: [other] }
        const text = JSON.stringify(value, null, indent)
        assert.deepStrictEqual(JSON.parse(memberText(text, name, "wanted")!), JSON.parse(JSON.stringify(inner)))
        assert.isNull(memberText(text, name, "absent"))
      }),
      { seed: 30, numRuns: 300 }
    )
  })

  it("takes the last of a name, as a parser does", () =>
    assert.strictEqual(memberText('{"a":1,"\\u0061" : [2] }', "a"), "[2]"))

  it("is exact only where no digit is lost", () => {
    const token = fc.tuple(fc.bigInt(), fc.nat(9_999_999_999), fc.integer({ min: -30, max: 30 }))
    fc.assert(
      fc.property(token, ([whole, fraction, power]) => {
        const text = `${whole}.${fraction}e${power}`
        const again = String(Number(text))
        assert.strictEqual(inexactness(text) === null, scaled(text) === scaled(again))
      }),
      { seed: 30, numRuns: 1_000 }
    )
  })
})

/** A decimal times 10^400, as an integer. */
const scaled = (token: string): bigint => {
  const [, sign, whole, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(token)!
  const value = BigInt(`${whole}${fraction}`) * 10n ** BigInt(400 + Number(power) - fraction.length)
  return sign === "-" ? -value : value
}
