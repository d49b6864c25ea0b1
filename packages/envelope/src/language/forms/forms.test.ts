import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { holdsFor } from "../text-cells.ts"
import { type FormName, forms } from "./forms.ts"

interface Vector {
  readonly kind: string
  readonly input: string
  readonly base?: string
  readonly expected: string | null
  readonly under?: { readonly [root: string]: boolean }
  readonly in?: { readonly [value: string]: boolean }
}

const vectors = (name: string): ReadonlyArray<Vector> =>
  JSON.parse(readFileSync(new URL(`../../../../../fixtures/vectors/forms/${name}.json`, import.meta.url), "utf8"))

describe.each(["path@1", "domain@1", "scheme@1"] satisfies ReadonlyArray<FormName>)("the form %s", (form) => {
  const all = vectors(form.slice(0, -2))
  const { keyOf, read, textOf, unreadable } = forms[form]

  it("reads each vector to its normal form, or not at all", () => {
    for (const { base, expected, input, kind } of all)
      assert.equal(read(input, base ?? null), expected, `${kind}: ${JSON.stringify(input)}`)
    assert.isNull(read(unreadable, null))
  })

  it("gives the verdicts of each vector, and none for what is unreadable", () => {
    for (const { expected, in: members = {}, input, under = {} } of all) {
      const holds = (op: "under" | "eq", value: string): boolean =>
        expected !== null && holdsFor({ op, value: { value, param: null } }, { form, base: null }, expected)
      for (const [root, verdict] of Object.entries(under)) assert.equal(holds("under", root), verdict, input)
      for (const [value, verdict] of Object.entries(members)) assert.equal(holds("eq", value), verdict, input)
    }
  })

  it("takes back no name in disguise", () => {
    if (form !== "path@1") return
    for (const name of [".[.]", "[.][.]", ".[!a]", "'..'", "..''", ".'.'", "..^", "^.", ".@(.)", ".+(.)", "!(a)"])
      for (const text of [`/srv/${name}/etc`, `/srv/a/${name}`, name]) assert.isNull(read(text, "/srv"), text)
    for (const text of ["@/etc/passwd", "=cat", "'/etc/passwd'", "+x"]) assert.isNull(read(text, "/srv"), text)
    assert.equal(read("/srv/it's (1) @home/a^b.c", null), "/srv/it's (1) @home/a^b.c")
  })

  it("reads its own normal forms unchanged", () => {
    for (const { expected } of all) if (expected !== null) assert.equal(read(textOf(keyOf(expected)), null), expected)
  })

  it("takes time in the length of a text, whatever stands in it", () => {
    const parts = [
      "/a",
      "a/../",
      "../",
      "//",
      "~",
      "a,",
      ":",
      "://",
      "a.",
      "-",
      "@",
      ";",
      "xn--a",
      "9",
      "0x",
      " ",
      "\ud800"
    ]
    for (const start of ["", "/", "http://", "a@"])
      for (const part of parts) {
        const begin = process.cpuUsage().user
        for (let i = 0; i < 20; i++) read(start + part.repeat(4096 / part.length), "/b")
        // Processor time: a hundred times what it takes; a quadratic one would take a thousand.
        assert.isBelow((process.cpuUsage().user - begin) / 1_000, 500, `${start}${part}`)
      }
  })
})
