import { assert, describe, it } from "vitest"
import { settingsMarkdown } from "./markdown.ts"
import { settingsTable } from "./table.ts"

describe("the settings table in Markdown", () => {
  it("has a row for every setting, and names the file of a secret", () => {
    const lines = settingsMarkdown().split("\n")
    assert.lengthOf(lines, 2 + Object.keys(settingsTable).length)
    assert.isTrue(lines.every((line) => line.split("|").length === 5))
    assert.include(settingsMarkdown(), "`FLYBALL_DATABASE_URL_FILE`")
  })
})
