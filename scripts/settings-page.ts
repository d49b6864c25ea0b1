/** Writes the settings table into docs/settings.md. A test fails when the page is not up to date. */
import { readFileSync, writeFileSync } from "node:fs"
import { MARKS, withSettings } from "../apps/server/src/settings/markdown.ts"

const file = new URL("../docs/settings.md", import.meta.url)
const written = withSettings(readFileSync(file, "utf8"))
if (written === null) {
  console.error(`docs/settings.md should have ${MARKS.start} once, and ${MARKS.end} once after it.`)
  process.exitCode = 1
} else {
  writeFileSync(file, written)
}
