/** What a reviewer is shown to differ from the last approved action of a tool. */
import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes } from "@flyball/evidence"
import { differencesOf } from "./differences.ts"

const parse = (text: string): unknown => JSON.parse(text)

describe("differences of arguments", () => {
  it("list members that every object inherits as any other, and have a canonical form", () => {
    const before = parse('{"a":1,"deep":{"b":2}}')
    const now = parse('{"a":1,"constructor":"x","deep":{"toString":[1]},"__proto__":{"y":1},"hasOwnProperty":null}')
    const found = differencesOf(before, now)
    assert.deepStrictEqual(found, [
      { path: "/__proto__", before: null, now: parse('{"y":1}') },
      { path: "/constructor", before: null, now: "x" },
      { path: "/deep/b", before: 2, now: null },
      { path: "/deep/toString", before: null, now: [1] },
      { path: "/hasOwnProperty", before: null, now: null }
    ])
    assert.isAbove(canonicalBytes(found as never).length, 0)
    assert.deepStrictEqual(
      differencesOf(now, before).map(({ path }) => path),
      found.map(({ path }) => path)
    )
  })
})
