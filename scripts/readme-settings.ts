/** Writes the settings table into README.md. A test of the table fails when it was forgotten. */
import { readFileSync, writeFileSync } from "node:fs"
import { MARKS, withSettings } from "../apps/server/src/settings/markdown.ts"

const file = new URL("../README.md", import.meta.url)
const written = withSettings(readFileSync(file, "utf8"))
if (written === null) {
  console.error(`README.md should have ${MARKS.start} once, and ${MARKS.end} once after it.`)
  process.exitCode = 1
} else {
  writeFileSync(file, written)
}
