import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { marksOf, putBetween } from "./between.ts"
import { outdatedPages, tables, withTables } from "./tables.ts"

const read = (page: string): string => readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")

describe("the tables of pages", () => {
  it("are up to date; npm run tables writes them", () => {
    assert.deepStrictEqual(outdatedPages(read), [])
  })

  it.each(tables)("$page: a changed table $name is found, and written as it was", ({ name, page }) => {
    const text = read(page)
    const { end } = marksOf(name)
    const changed = text.replace(`\n\n${end}`, `\n\none more\n\n${end}`)
    assert.notStrictEqual(changed, text)
    assert.lengthOf(
      outdatedPages((path) => (path === page ? changed : read(path))),
      1
    )
    assert.deepStrictEqual(withTables(page, changed), { text })
  })

  it("are written only between one start and one end mark, in order", () => {
    const { end, start } = marksOf("x")
    assert.strictEqual(putBetween(`a\n${start}\nold\n${end}\nb`, "x", "new"), `a\n${start}\n\nnew\n\n${end}\nb`)
    for (const page of ["no marks", start, end + start, `${start}${end}${start}${end}`])
      assert.isNull(putBetween(page, "x", "new"))
    const missing = outdatedPages((path) => (path === "docs/roles.md" ? "no marks" : read(path)))
    assert.lengthOf(missing, 1)
    assert.include(missing[0]!, "<!-- roles -->")
  })
})
