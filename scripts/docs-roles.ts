/** Writes the tables of docs/roles.md. A test of the page fails when it was forgotten. */
import { readFileSync, writeFileSync } from "node:fs"
import { MARKS, withRoles } from "./roles-table.ts"

const file = new URL("../docs/roles.md", import.meta.url)
const written = withRoles(readFileSync(file, "utf8"))
if (written === null) {
  console.error(`docs/roles.md should have ${MARKS.start} once, and ${MARKS.end} once after it.`)
  process.exitCode = 1
} else {
  writeFileSync(file, written)
}
