import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { MARKS, settingsMarkdown, withSettings } from "./markdown.ts"
import { settingsTable } from "./table.ts"

describe("the settings table in Markdown", () => {
  it("is what README.md prints; node scripts/readme-settings.ts brings it up to date", () => {
    const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8")
    assert.strictEqual(withSettings(readme), readme)
  })
  it("has a row for every setting, and names the file of a secret", () => {
    const lines = settingsMarkdown().split("\n")
    assert.lengthOf(lines, 2 + Object.keys(settingsTable).length)
    assert.isTrue(lines.every((line) => line.split("|").length === 5))
    assert.include(settingsMarkdown(), "`FLYBALL_DATABASE_URL_FILE`")
  })
  it("replaces what stands between the marks, and nothing without them", () => {
    const readme = `a\n${MARKS.start}\nold\n${MARKS.end}\nb\n`
    assert.strictEqual(withSettings(readme), `a\n${MARKS.start}\n${settingsMarkdown()}\n${MARKS.end}\nb\n`)
    assert.isNull(withSettings("no marks"))
    assert.isNull(withSettings(`${MARKS.end}${MARKS.start}`))
    assert.isNull(withSettings(readme + readme))
  })
})
