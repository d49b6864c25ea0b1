import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { excessCheck } from "./excess.ts"
import { defaulted, instant, integer, jsonObject, list, oneOf, optional, text } from "./fields.ts"

const inner = Schema.Struct({ x: Schema.optionalKey(integer()) })
const check = excessCheck(
  Schema.Struct({
    a: text(0, 9),
    b: optional(inner),
    c: list(inner, 0, 9),
    d: optional(jsonObject),
    e: defaulted(oneOf(["x"]), "x"),
    f: optional(instant),
    g: Schema.Unknown,
    h: Schema.Union([oneOf(["none"]), list(inner, 0, 9)]),
    i: optional(
      Schema.Union([
        Schema.Struct({ type: Schema.Literal("one"), one: Schema.String }),
        Schema.Struct({ type: Schema.Literal("all") })
      ])
    )
  })
)!

describe("members that a shape does not have", () => {
  it("are found at any depth", () => {
    for (const value of [
      { z: 1 },
      { b: { z: 1 } },
      { c: [{}, { x: 1, z: 1 }] },
      { h: [{ z: 1 }] },
      { i: { type: "one", one: "", z: 1 } },
      { i: { type: "all", one: "" } },
      JSON.parse('{"__proto__":1}'),
      JSON.parse('{"b":{"__proto__":1}}'),
      { toString: 1 },
      { constructor: 1 }
    ]) {
      assert.isTrue(check(value), JSON.stringify(value))
    }
  })
  it("are not reported where any member is allowed, or where the type is wrong anyway", () => {
    for (const value of [
      {},
      { a: "", b: null, c: [], d: { z: 1 }, e: "x", f: "t", g: { z: 1 }, h: "none" },
      { i: { type: "one", one: "" } },
      { i: { type: "all" } },
      { i: "all" },
      { b: { x: 1 }, c: [{ x: 1 }], h: [{ x: 1 }] },
      { b: [], c: {}, h: {} },
      null,
      [],
      "x",
      1
    ]) {
      assert.isFalse(check(value), JSON.stringify(value))
    }
  })
  it("need no check in a shape without objects", () => {
    assert.isNull(excessCheck(text(0, 9)))
    assert.isNull(excessCheck(list(integer(), 0, 9)))
  })
})
