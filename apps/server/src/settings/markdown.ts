/** The settings table as docs/settings.md shows it. */
import { type Setting, settingsTable } from "./table.ts"

/** Lines between which the page has the table. */
export const MARKS = { start: "<!-- settings -->", end: "<!-- /settings -->" } as const

/** The table in Markdown, one row a setting. */
export const settingsMarkdown = (): string => {
  const rows = Object.values<Setting<unknown>>(settingsTable).map(
    ({ fallback, meaning, name, secret }) =>
      `| \`${name}\`${secret ? ` or \`${name}_FILE\`` : ""} | ${fallback === null ? "" : `\`${fallback}\``} | ` +
      `${meaning} |`
  )
  return ["| setting | default | meaning |", "|---|---|---|", ...rows].join("\n")
}

/** A page with the table between its marks; null when the marks are not there once each, in order. */
export const withSettings = (page: string): string | null => {
  const [before, rest, ...moreStarts] = page.split(MARKS.start)
  const [, after, ...moreEnds] = rest?.split(MARKS.end) ?? []
  if (after === undefined || moreStarts.length > 0 || moreEnds.length > 0) return null
  return `${before}${MARKS.start}\n${settingsMarkdown()}\n${MARKS.end}${after}`
}
