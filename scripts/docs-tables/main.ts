/**
 * Writes the tables of pages that derive from code: `npm run tables`.
 *
 * With `--check` it writes nothing, and exits 1 where a page is not up to date. `npm run check` runs the same check.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { outdatedPages, tables, withTables } from "./tables.ts"

const fileOf = (page: string): URL => new URL(`../../${page}`, import.meta.url)
const read = (page: string): string => readFileSync(fileOf(page), "utf8")

if (process.argv.includes("--check")) {
  const outdated = outdatedPages(read)
  for (const line of outdated) console.error(line)
  if (outdated.length > 0) process.exitCode = 1
} else {
  for (const page of new Set(tables.map((table) => table.page))) {
    const before = read(page)
    const written = withTables(page, before)
    if ("problem" in written) {
      console.error(written.problem)
      process.exitCode = 1
    } else if (written.text !== before) {
      writeFileSync(fileOf(page), written.text)
      console.log(`${page} is written anew`)
    }
  }
}
