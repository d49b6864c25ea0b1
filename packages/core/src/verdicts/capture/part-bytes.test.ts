import { PART_LIMIT_BYTES } from "@flyball/contract"
import { fromUtf8, inOneGo, RawJson, utf8 } from "@flyball/evidence"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { partBytes } from "../content/part-bytes.ts"

const text = (value: unknown): string | null => fromUtf8(Result.getOrThrow(inOneGo(partBytes(value))))
const problem = (value: unknown): string => {
  const result = inOneGo(partBytes(value))
  return Result.isFailure(result) ? result.failure._tag : "none"
}

describe("parts of a decision", () => {
  it("are the RFC 8785 form of a value", () => {
    assert.strictEqual(text({ b: 1.5, a: [null, true, "ä"] }), '{"a":[null,true,"ä"],"b":1.5}')
    assert.strictEqual(text(null), "null")
  })

  it("are the bytes received where there is no such form", () => {
    assert.strictEqual(text(new RawJson(utf8('{"a": 1, "a": 2}'))), '{"a": 1, "a": 2}')
  })

  it("end at one mebibyte of their committed form, to the byte", () => {
    assert.strictEqual(problem("a".repeat(PART_LIMIT_BYTES - 2)), "none")
    assert.strictEqual(problem("a".repeat(PART_LIMIT_BYTES - 1)), "TooLarge")
    assert.strictEqual(problem("ä".repeat(PART_LIMIT_BYTES / 2)), "TooLarge")
    assert.strictEqual(problem(new RawJson(new Uint8Array(PART_LIMIT_BYTES))), "none")
    assert.strictEqual(problem(new RawJson(new Uint8Array(PART_LIMIT_BYTES + 1))), "TooLarge")
  })

  it("are refused where a host hands in what JSON cannot say", () => {
    const circle: Array<unknown> = []
    circle.push(circle)
    for (const value of [Number.NaN, "\ud800", [undefined], new Date(0), 1n, () => 1, circle])
      assert.strictEqual(problem(value), "NotCanonical")
  })
})
