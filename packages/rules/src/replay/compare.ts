/** Compares a document with what the records say, down to the member that differs. */
import type { Difference, ExpectedDocument, Json, JsonMap } from "../records/record.ts"

/** Differences of one document. Null stands for a missing document. */
export const compareDocument = (
  expected: ExpectedDocument | null,
  found: { readonly collection: string; readonly id: string; readonly body: JsonMap } | null
): ReadonlyArray<Difference> => {
  if (expected === null)
    return found === null
      ? []
      : [
          {
            collection: found.collection,
            id: found.id,
            path: "",
            expected: "no document: no record creates it",
            found: "a document"
          }
        ]
  const at = { collection: expected.collection, id: expected.id }
  if (found === null) return [{ ...at, path: "", expected: "a document", found: "no document" }]
  const differences: Array<Difference> = []
  for (const name of names(expected.body, found.body)) {
    if (expected.unknown.includes(name)) continue
    const path = `/${escape(name)}`
    const leaves = compareJson(path, own(expected.body, name), own(found.body, name))
    // Names inside a person's own object are personal too: such a member is reported as a whole.
    if (!expected.personal.includes(name)) differences.push(...leaves.map((leaf) => ({ ...at, ...leaf })))
    else if (leaves.length > 0)
      differences.push({
        ...at,
        path,
        expected: describe(own(expected.body, name)),
        found: describe(own(found.body, name))
      })
  }
  return differences
}

interface Leaf {
  readonly path: string
  readonly expected: string
  readonly found: string
}

const compareJson = (path: string, expected: Json | undefined, found: Json | undefined): ReadonlyArray<Leaf> => {
  if (isMap(expected) && isMap(found)) {
    return names(expected, found).flatMap((name) =>
      compareJson(`${path}/${escape(name)}`, own(expected, name), own(found, name))
    )
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    const longest = Math.max(expected.length, found.length)
    return Array.from({ length: longest }, (_, index) =>
      compareJson(`${path}/${index}`, expected[index], found[index])
    ).flat()
  }
  return Object.is(expected, found) ? [] : [{ path, expected: show(expected), found: show(found) }]
}

const names = (a: JsonMap, b: JsonMap): ReadonlyArray<string> =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()

const own = (map: JsonMap, name: string): Json | undefined => (Object.hasOwn(map, name) ? map[name] : undefined)

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const escape = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")

const show = (value: Json | undefined): string =>
  value === undefined ? "nothing" : JSON.stringify(value).slice(0, 200)

/** Says that there is something, and how much, but not what: it is a person's. */
const describe = (value: Json | undefined): string => {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (typeof value === "string") return `a text of ${value.length} characters`
  return Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`
}
