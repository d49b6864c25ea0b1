/** The tables of pages that are written from code, and whether a page has them as they are. */
import { settingsMarkdown } from "../../apps/server/src/settings/markdown.ts"
import { kindsTable } from "../../packages/evidence/src/kinds/table.ts"
import { marksOf, putBetween } from "./between.ts"
import { endpointsTable } from "./endpoints.ts"
import { entitiesTable } from "./entities.ts"
import { eventsTable, platformEventsTable } from "./events.ts"
import { limitsTable, plansTable, quotasTable } from "./plans.ts"
import { recipes } from "./recipes.ts"
import { rolesTable } from "./roles.ts"
import { tierFloorMarkdown, tierGateMarkdown } from "./tier-floor.ts"

/** A table, and the page that has it between the marks of this name. */
export interface Table {
  readonly page: string
  readonly name: string
  readonly text: () => string
}

/** All of them. */
export const tables: ReadonlyArray<Table> = [
  ...recipes.map(({ name, text }) => ({
    page: "docs/envelopes.md",
    name,
    text: () => `\`\`\`json\n${text}\`\`\``
  })),
  { page: "docs/platform-api.md", name: "plans", text: plansTable },
  { page: "docs/platform-api.md", name: "operation limits", text: limitsTable },
  { page: "docs/platform-api.md", name: "quotas", text: quotasTable },
  { page: "docs/platform-api.md", name: "platform events", text: platformEventsTable },
  { page: "docs/roles.md", name: "roles", text: rolesTable },
  { page: "docs/settings.md", name: "settings", text: settingsMarkdown },
  { page: "docs/webhooks.md", name: "events", text: eventsTable },
  { page: "packages/contract/README.md", name: "endpoints", text: endpointsTable },
  { page: "packages/contract/README.md", name: "entities", text: entitiesTable },
  { page: "packages/envelope/README.md", name: "tier floor", text: tierFloorMarkdown },
  { page: "packages/envelope/README.md", name: "tier gate", text: tierGateMarkdown },
  { page: "packages/evidence/SPEC.md", name: "catalogue", text: kindsTable }
]

/** A page with its tables as they are to be, or what is wrong with its marks. */
export const withTables = (
  page: string,
  text: string,
  of: ReadonlyArray<Table> = tables
): { readonly text: string } | { readonly problem: string } => {
  let written = text
  for (const table of of.filter((one) => one.page === page)) {
    const next = putBetween(written, table.name, table.text())
    const { end, start } = marksOf(table.name)
    if (next === null) return { problem: `${page} should have ${start} once, and ${end} once after it.` }
    written = next
  }
  return { text: written }
}

/** Lists the problems with the pages, one sentence each. */
export const outdatedPages = (read: (page: string) => string): ReadonlyArray<string> =>
  [...new Set(tables.map(({ page }) => page))].flatMap((page) => {
    const text = read(page)
    const written = withTables(page, text)
    if ("problem" in written) return [written.problem]
    return written.text === text ? [] : [`${page} has a table that is not up to date: npm run tables writes it`]
  })
