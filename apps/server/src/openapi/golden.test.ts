/** The interface description against the one in fixtures: programs that were written for it keep working. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { interfaceDescription } from "./document.ts"
import { withoutSentences } from "./testing/without-sentences.ts"

const golden: unknown = JSON.parse(
  readFileSync(new URL("../../../../fixtures/openapi/document.json", import.meta.url), "utf8")
)

/** JSON pointers of what the description has and the golden one does not. List here what an issue adds. */
const added: ReadonlyArray<string> = [
  "/components/schemas/TimelineEntry",
  "/paths/~1api~1v1~1agents~1{agent_id}~1timeline"
]

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const pointer = (at: string, name: string) => `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`

interface Differences {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/** Where two values differ. A list is one value, order included: an added item is a change. */
const differences = (before: unknown, after: unknown, at = ""): Differences => {
  if (!isObject(before) || !isObject(after))
    return { added: [], changed: JSON.stringify(before) === JSON.stringify(after) ? [] : [at] }
  const inner = Object.keys(before).map((name) =>
    Object.hasOwn(after, name)
      ? differences(before[name], after[name], pointer(at, name))
      : { added: [], changed: [pointer(at, name)] }
  )
  const more = Object.keys(after).filter((name) => !Object.hasOwn(before, name))
  return {
    added: [...inner.flatMap((one) => one.added), ...more.map((name) => pointer(at, name))],
    changed: inner.flatMap((one) => one.changed)
  }
}

describe("the interface description, sentences aside", () => {
  it("removes and changes nothing of the golden one, and adds only what is listed", () => {
    const now = withoutSentences(JSON.parse(JSON.stringify(interfaceDescription())))
    const found = differences(golden, now)
    assert.deepStrictEqual(found.changed, [])
    assert.deepStrictEqual([...found.added].sort(), [...added].sort())
  })

  it("sees what is removed, changed and added", () => {
    const before = { a: { b: 1, c: [1, 2] }, d: null }
    assert.deepStrictEqual(differences(before, before), { added: [], changed: [] })
    assert.deepStrictEqual(differences(before, { a: { b: 2, c: [1, 2, 3], "x/y": 0 } }), {
      added: ["/a/x~1y"],
      changed: ["/a/b", "/a/c", "/d"]
    })
  })

  it("leaves sentences out, and keeps members of bodies that have their names", () => {
    assert.deepStrictEqual(
      withoutSentences({
        title: "t",
        properties: { title: { type: "string", description: "d" }, properties: { examples: [1], type: "object" } }
      }),
      { properties: { title: { type: "string" }, properties: { type: "object" } } }
    )
  })
})
