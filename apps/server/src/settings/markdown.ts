/** The settings table as the README prints it. */
import { type Setting, settingsTable } from "./table.ts"

/** Lines between which a README carries the table. */
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

/** A README with the table between its marks; null when the marks are not there once each, in order. */
export const withSettings = (readme: string): string | null => {
  const [before, rest, ...moreStarts] = readme.split(MARKS.start)
  const [, after, ...moreEnds] = rest?.split(MARKS.end) ?? []
  if (after === undefined || moreStarts.length > 0 || moreEnds.length > 0) return null
  return `${before}${MARKS.start}\n${settingsMarkdown()}\n${MARKS.end}${after}`
}
