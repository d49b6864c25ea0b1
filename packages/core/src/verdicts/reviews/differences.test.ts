/** Differences from the last approved action of a tool, as a reviewer is shown them. */
import { canonicalBytes } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { differencesOf, MAX_DIFFERENCES } from "./differences.ts"

const paths = (before: unknown, now: unknown): ReadonlyArray<string> =>
  differencesOf(before, now).listed.map(({ path }) => path)

describe("differences of arguments", () => {
  it("are named by JSON pointers, member by member and item by item", () => {
    assert.deepStrictEqual(differencesOf({ to: { name: "Ada" }, a: 1 }, { to: { name: "Bo" }, a: 1 }), {
      listed: [{ path: "/to/name", before: "Ada", now: "Bo" }],
      omitted: 0
    })
    assert.deepStrictEqual(paths({ a: [1, 2], "b/c": 1, "d~e": 1 }, { a: [1, 3], "b/c": 2, "d~e": 2 }), [
      "/a/1",
      "/b~1c",
      "/d~0e"
    ])
    // A list of another length differs as a whole, and so does another type.
    assert.deepStrictEqual(paths({ a: [1], b: {}, c: null }, { a: [1, 2], b: [], c: false }), ["/a", "/b", "/c"])
    assert.deepStrictEqual(differencesOf(1, "1").listed, [{ path: "", before: 1, now: "1" }])
    assert.deepStrictEqual(paths({ a: [{ b: 1 }] }, { a: [{ b: 1 }] }), [])
  })

  it("list members that every object inherits as any other, and have a canonical form", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty", "__proto__"]) {
      const named = JSON.parse(`{"${name}":"x"}`) as unknown
      assert.deepStrictEqual(differencesOf({}, named).listed, [{ path: `/${name}`, before: null, now: "x" }])
      const { listed } = differencesOf(named, {})
      assert.deepStrictEqual(listed, [{ path: `/${name}`, before: "x", now: null }])
      assert.isAbove(canonicalBytes(listed as never).length, 0)
    }
  })

  it("are counted where there are too many to list", () => {
    const many = (value: number) => Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`m${at}`, value]))
    const { listed, omitted } = differencesOf(many(1), many(2))
    assert.deepStrictEqual([listed.length, omitted], [MAX_DIFFERENCES, 150 - MAX_DIFFERENCES])
  })
})
