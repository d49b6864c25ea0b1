/** The settings table as docs/settings.md shows it. */
import { type Setting, settingsTable } from "./table.ts"

/** The table in Markdown, one row a setting. */
export const settingsMarkdown = (): string => {
  const rows = Object.values<Setting<unknown>>(settingsTable).map(
    ({ fallback, meaning, name, secret }) =>
      `| \`${name}\`${secret ? ` or \`${name}_FILE\`` : ""} | ${fallback === null ? "" : `\`${fallback}\``} | ` +
      `${meaning} |`
  )
  return ["| setting | default | meaning |", "|---|---|---|", ...rows].join("\n")
}
