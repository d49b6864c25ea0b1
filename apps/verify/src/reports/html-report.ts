/**
 * The report as a page for people: one file without scripts and without anything from elsewhere, which prints well.
 *
 * A pack is hostile input. Every text passes `shownText` and `escaped`, and the page's own policy forbids scripts,
 * forms and loads.
 */
import { portableCrypto, type Report, toBase64, utf8 } from "@flyball/evidence"
import type { Extras } from "../extras.ts"
import { type ReportElement, reportStyle, reportTree, shownText } from "./report-tree.ts"

/** The page. `nowMs`: when the pack was verified; milliseconds since 1970 UTC. */
export const htmlReport = (report: Report, extras: Extras, nowMs: number): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>Evidence report</title>
<style>${reportStyle}</style>
</head>
<body>
${reportTree(report, extras, nowMs).map(markup).join("\n")}
</body>
</html>
`

/** Text of any origin is text of an element here: {@link shownText}, with what markup knows as characters. */
const markup = ({ children, name, tag }: ReportElement): string => {
  if (tag === "br") return "<br>"
  const attributes = `${tag === "th" ? ' scope="row"' : ""}${name === undefined ? "" : ` class="${name}"`}`
  const isGroup = tag === "ul" || tag === "table"
  const inner = children.map((child) => (typeof child === "string" ? escaped(shownText(tag, child)) : markup(child)))
  return isGroup
    ? `<${tag}${attributes}>\n${inner.join("\n")}\n</${tag}>`
    : `<${tag}${attributes}>${inner.join("")}</${tag}>`
}

const escaped = (text: string): string => text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

/** The style by its digest: no other style applies, and nothing else at all. */
const POLICY =
  `default-src 'none'; style-src 'sha256-${toBase64(portableCrypto.sha256(utf8(reportStyle)))}'; ` +
  "base-uri 'none'; form-action 'none'"
