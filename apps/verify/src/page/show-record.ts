/** Shows a record of the timeline: a line for people, and all members and disclosed parts on demand. */
import { printable, printableLines } from "../reports/printable.ts"
import type { TimelinePart, TimelineRow } from "../timeline/timeline.ts"

/** An item of the list of records. */
export const showRecord = ({ at, kind, members, parts, seq }: TimelineRow): HTMLElement => {
  const first = FIRST.flatMap((wanted) => members.filter(([name]) => name === wanted))
  return made("li", [
    made("h3", [`Record ${seq}: ${printable(kind)} `, made("time", [at])]),
    made("p", [first.map(([name, value]) => `${name} ${printable(value)}`).join(", ")]),
    made("details", [
      made("summary", [`All members${partsTitle(parts)}`]),
      made(
        "dl",
        members.flatMap(([name, value]) => [made("dt", [printable(name)]), made("dd", [printable(value)])])
      ),
      ...parts.flatMap(shownPart)
    ])
  ])
}

/** Members that say what a record is about, in this order. */
const FIRST = [
  "agent_id",
  "principal_id",
  "envelope_id",
  "version",
  "action",
  "outcome",
  "matched_rule",
  "status",
  "reason"
]

const partsTitle = (parts: ReadonlyArray<TimelinePart>): string => {
  if (parts.length === 0) return ""
  const disclosed = parts.filter(({ note }) => note === null).length
  const names = parts.map(({ name }) => printable(name)).join(", ")
  return `; ${parts.length} part${parts.length === 1 ? "" : "s"}, ${disclosed} disclosed: ${names}`
}

const shownPart = ({ name, note, text }: TimelinePart): ReadonlyArray<HTMLElement> => [
  made("p", [`Part ${printable(name)}${note === null ? "" : `: ${note}`}`]),
  ...(text === null ? [] : [made("pre", [printableLines(text)])])
]

const made = (tag: string, children: ReadonlyArray<HTMLElement | string>): HTMLElement => {
  const element = document.createElement(tag)
  element.append(...children)
  return element
}
