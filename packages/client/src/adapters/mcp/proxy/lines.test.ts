import { assert, describe, it } from "vitest"
import { isBlank, jsonOf, type Line, splitLines, textOf as messageOf } from "./lines.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (line: Line): string | null => (line === null ? null : new TextDecoder().decode(line))

describe("lines of a stream", () => {
  it("are the same wherever the pieces are cut, in the middle of a letter too", () => {
    const whole = bytes('{"a":"é…"}\n\nsecond\nunfinished')
    for (let size = 1; size <= whole.length; size++) {
      const take = splitLines()
      const lines: Array<string | null> = []
      for (let at = 0; at < whole.length; at += size) lines.push(...take(whole.subarray(at, at + size)).map(textOf))
      assert.deepStrictEqual(lines, ['{"a":"é…"}', "", "second"], `pieces of ${size}`)
    }
  })

  it("do not depend on a buffer that the stream uses again", () => {
    const take = splitLines()
    const buffer = bytes("first ha")
    take(buffer)
    buffer.fill(120)
    assert.deepStrictEqual(take(bytes("lf\n")).map(textOf), ["first half"])
  })

  it("that are too long are known as such, and the next one is whole", () => {
    const take = splitLines(8)
    assert.deepStrictEqual([...take(bytes("12345")), ...take(bytes("6789\n12345678\nok\n"))].map(textOf), [
      null,
      "12345678",
      "ok"
    ])
  })

  it("are JSON, or are not", () => {
    for (const text of ['{"a":1}\r', '\u{feff}{"a":1}'])
      assert.deepStrictEqual(jsonOf(messageOf(bytes(text))), { a: 1 })
    for (const text of ["", "{", "NaN", '\u{feff}\u{feff}{"a":1}', '{"a":1}{'])
      assert.isUndefined(jsonOf(messageOf(bytes(text))), text)
    assert.isUndefined(jsonOf(messageOf(new Uint8Array([34, 0xff, 34]))))
    assert.isTrue(isBlank(bytes(" \r")))
    assert.isFalse(isBlank(bytes(" x")))
  })
})
