/** The catalogue as the table that `SPEC.md` carries. */
import { type KindRow, recordKinds } from "./kinds.ts"
import { describeMember } from "./kinds-members.ts"

/** Markdown of the catalogue: one section per kind. */
export const kindsTable = (): string => recordKinds.map(section).join("\n\n")

const section = (row: KindRow): string => [
  `### \`${row.kind}\``,
  "",
  row.about,
  "",
  "| body member | | type and bound |",
  "|---|---|---|",
  ...row.body.map(({ name, required, type }) => `| \`${name}\` | ${required ? "required" : "optional"} | ${describeMember(type)} |`),
  ...(row.parts.length === 0
    ? ["", "No parts."]
    : ["", "| part | at most | holds |", "|---|---|---|", ...row.parts.map(({ holds, maxBytes, name }) => `| \`${name}\` | ${maxBytes.toLocaleString("en-US")} bytes | ${holds} |`)])
].join("\n")
