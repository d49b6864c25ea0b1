/** The catalogue as the table that `SPEC.md` carries. */
import { recordKinds } from "./catalogue.ts"
import { describeMember } from "./members.ts"
import type { KindRow } from "./row.ts"

/** Most columns of a line of the page. */
const COLUMNS = 120

/** Markdown of the catalogue: one section per kind. */
export const kindsTable = (): string => recordKinds.map(section).join("\n\n")

const section = (row: KindRow): string =>
  [
    `### \`${row.kind}\``,
    "",
    wrapped(row.about),
    "",
    "| body member | | type and bound |",
    "|---|---|---|",
    ...row.body.map(
      ({ name, required, type }) => `| \`${name}\` | ${required ? "required" : "optional"} | ${describeMember(type)} |`
    ),
    ...(row.parts.length === 0
      ? ["", "No parts."]
      : [
          "",
          "| part | at most | holds |",
          "|---|---|---|",
          ...row.parts.map(
            ({ holds, maxBytes, name }) => `| \`${name}\` | ${maxBytes.toLocaleString("en-US")} bytes | ${holds} |`
          )
        ])
  ].join("\n")

/** The text in lines of at most that many columns. Code is not broken. */
const wrapped = (text: string): string => {
  const lines = [""]
  for (const [word] of text.matchAll(/(?:`[^`]*`|[^\s`])+/g)) {
    const line = lines.at(-1)!
    if (line === "") lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join("\n")
}
