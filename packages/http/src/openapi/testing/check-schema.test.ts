import { assert, describe, it } from "vitest"
import type { JsonSchema } from "../json-schema.ts"
import { problemsOfValue } from "./check-schema.ts"

const schemas = { Word: { type: "string", enum: ["a", "b"] } }
const fits = (schema: JsonSchema, value: unknown, closed = false): boolean =>
  problemsOfValue(schema, value, "it", { schemas, closed }).length === 0

describe("the checker that the other tests stand on", () => {
  it.each<[JsonSchema, ReadonlyArray<unknown>, ReadonlyArray<unknown>]>([
    [{ type: "integer", minimum: 1, maximum: 3 }, [1, 3], [0, 4, 1.5, "1", null]],
    [
      { type: ["string", "null"], minLength: 1, maxLength: 2, pattern: "^.a?$" },
      ["x", "😀", "xa", null],
      ["", "xyz", "xb", 1, []]
    ],
    [
      { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2 },
      [[true], [true, false]],
      [[], [true, true, true], [1], {}, null]
    ],
    [
      { type: "object", properties: { a: { const: 1 } }, required: ["a"], additionalProperties: false },
      [{ a: 1 }],
      [{}, { a: 2 }, { a: 1, b: 1 }, [], null]
    ],
    [{ type: "object", additionalProperties: { type: "string" } }, [{}, { a: "" }], [{ a: 1 }]],
    [{ anyOf: [{ $ref: "#/components/schemas/Word" }, { type: "null" }] }, ["a", null], ["c", 1]],
    [{ oneOf: [{ type: "string" }, { const: "a" }] }, ["b"], ["a", 1]],
    [{ type: "string", not: { const: "*" } }, ["a"], ["*"]],
    [{}, [1, null, {}], []]
  ])("%j", (schema, good, bad) => {
    for (const value of good) assert.isTrue(fits(schema, value), JSON.stringify(value))
    for (const value of bad) assert.isFalse(fits(schema, value), JSON.stringify(value))
  })

  it("reads open objects as closed on request", () => {
    assert.deepStrictEqual(
      [
        fits({ type: "object", properties: { a: {} } }, { b: 1 }),
        fits({ type: "object", properties: { a: {} } }, { b: 1 }, true)
      ],
      [true, false]
    )
  })

  it("throws at what it does not know", () => {
    assert.throws(() => fits({ minlength: 1 }, ""), /minlength/)
    assert.throws(() => fits({ $ref: "#/components/schemas/Wrod" }, ""), /leads nowhere/)
  })
})
