/** The catalogue as the table that `SPEC.md` carries. */
import { recordKinds } from "./catalogue.ts"
import { describeMember } from "./members.ts"
import type { KindRow } from "./row.ts"

/** Markdown of the catalogue: one section per kind. */
export const kindsTable = (): string => recordKinds.map(section).join("\n\n")

const section = (row: KindRow): string =>
  [
    `### \`${row.kind}\``,
    "",
    row.about,
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
