import { utf8 } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { PlainSignals } from "./plain-signals.ts"

const read = (text: string) => new PlainSignals().read(utf8(text))
describe("plain signals", () => {
  it.each([
    ["{}", {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":-12,"b":"x y","c":true,"d":false,"e":""}', { a: -12, b: "x y", c: true, d: false, e: "" }],
    ['{"10":1,"9":0}', { 9: 0, 10: 1 }],
    ['{"constructor":1,"toString":2}', { constructor: 1, toString: 2 }]
  ])("%s", (text, value) => expect(read(text)).toEqual(value))

  it.each([
    "",
    "{",
    "}",
    "{}}",
    "{} ",
    " {}",
    "[]",
    "1",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1',
    '{"a":1}x',
    '{"a":1,"a":2}',
    '{"b":1,"a":2}',
    '{"a":01}',
    '{"a":-0}',
    '{"a":-}',
    '{"a":1.5}',
    '{"a":1e3}',
    '{"a":1234567890123456}',
    '{"a":null}',
    '{"a":{}}',
    '{"a":[1]}',
    '{"a":"\\n"}',
    '{"a":"é"}',
    '{"a":tru}',
    '{"a":truer}',
    '{"a": 1}',
    '{"__proto__":1}',
    "{a:1}",
    '{"a":"x}'
  ])("leaves %s to the long way", (text) => expect(read(text)).toBeNull())
})
