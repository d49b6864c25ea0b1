import { utf8 } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { shownSignals, signalsOf } from "./signals-part.ts"

describe("signals read from bytes", () => {
  it.each([
    ['{"b":true,"x":9007199254740992}', { b: true, x: 2 ** 53 }],
    ['{"x":9007199254740992,"b":true}', { b: true, x: 2 ** 53 }],
    ['{"b":true,"x":9007199254740993}', { b: true, x: 2 ** 53 }],
    ['{ "x": 1e2, "y": 9007199254740993 }', { x: 100, y: 2 ** 53 }],
    ['{"x":1E400}', null],
    ['{"b":true,"b":true}', null],
    ['{"b":{"a":1,"a":1}}', null],
    ['{"x":"\\ud800"}', null],
    ['{"x":1', null],
    [`{"x":${"[".repeat(64)}${"]".repeat(64)}}`, null],
    ["[]", []],
    ["null", null]
  ])("%s: are parsed in any order and spelling, or refused when they have no canonical form", (text, value) =>
    expect(signalsOf(utf8(text))).toEqual(value)
  )

  it("are shown only when their bytes are canonical", () => {
    expect(
      ['{"b":true,"x":1.5}', '{"x":1,"b":true}', '{"b":true,"x":9007199254740993}'].map((text) =>
        shownSignals(utf8(text))
      )
    ).toEqual([{ b: true, x: 1.5 }, null, null])
  })
})
