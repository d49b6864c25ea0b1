import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { MARKS, settingsMarkdown, withSettings } from "./markdown.ts"
import { settingsTable } from "./table.ts"

describe("the settings table in Markdown", () => {
  it("equals the table of docs/settings.md; node scripts/settings-page.ts writes it", () => {
    const page = readFileSync(new URL("../../../../docs/settings.md", import.meta.url), "utf8")
    assert.strictEqual(withSettings(page), page)
  })
  it("has a row for every setting, and names the file of a secret", () => {
    const lines = settingsMarkdown().split("\n")
    assert.lengthOf(lines, 2 + Object.keys(settingsTable).length)
    assert.isTrue(lines.every((line) => line.split("|").length === 5))
    assert.include(settingsMarkdown(), "`FLYBALL_DATABASE_URL_FILE`")
  })
  it("replaces the text between the marks, and nothing without them", () => {
    const page = `a\n${MARKS.start}\nold\n${MARKS.end}\nb\n`
    assert.strictEqual(withSettings(page), `a\n${MARKS.start}\n${settingsMarkdown()}\n${MARKS.end}\nb\n`)
    assert.isNull(withSettings("no marks"))
    assert.isNull(withSettings(`${MARKS.end}${MARKS.start}`))
    assert.isNull(withSettings(page + page))
  })
})
