import { assert, describe, it } from "vitest"
import { compareDocument } from "./compare.ts"
import type { ExpectedDocument, JsonMap } from "../records/record.ts"

const expected = (body: JsonMap, more: Partial<ExpectedDocument> = {}): ExpectedDocument => ({
  collection: "agents",
  id: "agt_1",
  body,
  unique: {},
  unknown: [],
  erased: [],
  personal: [],
  ...more
})
const found = (body: JsonMap) => ({ collection: "agents", id: "agt_1", body })
const at = { collection: "agents", id: "agt_1" }

describe("comparing a document with the records", () => {
  it("finds nothing when they agree, in any order of members", () => {
    assert.deepStrictEqual(
      compareDocument(expected({ a: 1, b: { c: [1, "x", null] } }), found({ b: { c: [1, "x", null] }, a: 1 })),
      []
    )
  })

  it("points at the member that differs", () => {
    assert.deepStrictEqual(compareDocument(expected({ a: { "b/c": [1, 2] } }), found({ a: { "b/c": [1, 3] } })), [
      { ...at, path: "/a/b~1c/1", expected: "2", found: "3" }
    ])
  })

  it("distinguishes an absent member from null", () => {
    assert.deepStrictEqual(compareDocument(expected({ a: null }), found({})), [
      { ...at, path: "/a", expected: "null", found: "nothing" }
    ])
    assert.deepStrictEqual(compareDocument(expected({}), found({ a: null })), [
      { ...at, path: "/a", expected: "nothing", found: "null" }
    ])
  })

  it("compares members whose names every object inherits", () => {
    assert.strictEqual(compareDocument(expected({}), found({ constructor: 1 }))[0]?.path, "/constructor")
    assert.strictEqual(
      compareDocument(expected({}), found(JSON.parse('{"__proto__":1}') as JsonMap))[0]?.path,
      "/__proto__"
    )
  })

  it("reports an extra and a missing document", () => {
    assert.strictEqual(compareDocument(null, found({}))[0]?.found, "a document")
    assert.strictEqual(compareDocument(expected({}), null)[0]?.found, "no document")
    assert.deepStrictEqual(compareDocument(null, null), [])
  })

  it("skips members that the records do not determine", () => {
    assert.deepStrictEqual(
      compareDocument(expected({ name: "agt_1" }, { unknown: ["name"] }), found({ name: "Ada" })),
      []
    )
  })

  it("never shows values or names of members that a person wrote", () => {
    const differences = compareDocument(
      expected({ name: "Ada Lovelace", labels: { patient: "Ada" } }, { personal: ["name", "labels"] }),
      found({ name: "Grace Hopper", labels: { patient: "Grace" } })
    )
    assert.deepStrictEqual(
      differences.map((one) => one.path),
      ["/labels", "/name"]
    )
    assert.notMatch(JSON.stringify(differences), /Ada|Grace|patient/)
  })
})
