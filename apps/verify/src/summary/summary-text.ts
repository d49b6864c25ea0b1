/** A summary in lists for people. */
import type { Entry } from "../reports/report-facts.ts"
import { type SectionName, sections } from "./report-rows.ts"
import type { ActSummary, Counted, Listed, SectionSummary, Summary } from "./summary.ts"

/** The lists; those without an entry are one line. */
export const summaryEntries = (summary: Summary): ReadonlyArray<Entry> => {
  const { agents, decisions, denials, rules, source, verdicts, verdicts_on_trial: onTrial } = summary
  return [
    {
      title: "This report",
      items: [
        summary.period === null
          ? "Period: none, the pack holds no record."
          : `Period: ${summary.period.from} to ${summary.period.to}, the times of its first and last record.`,
        `File: SHA-256 ${source.sha256}, ${count(source.bytes, "byte")}.`,
        `Made by flyball-verify ${source.verifier}.`
      ]
    },
    { title: "Sums", items: summary.sums.map(sumText) },
    list(
      "Agents",
      agents,
      (agent) => {
        const { agent_id: id, decisions: made, evaluations, name, owner } = agent
        const called = name === null ? id : `${name} (${id})`
        const answers = owner === null ? "owner not disclosed or none" : `owner ${owner}`
        return `${called}: ${answers}; ${count(made, "decision")}, ${count(evaluations, "evaluation")}.`
      },
      untracked(summary.untracked_agent_records, "record", "of further agents")
    ),
    {
      title: `Decisions: ${total(decisions.witnessed)}`,
      items: [...counts("At capture", decisions.witnessed), ...counts("Settled later", decisions.settled)]
    },
    {
      title: `Verdicts: ${total(verdicts)}`,
      items: [...counts("By outcome", verdicts), ...counts("On trial, binding nobody", onTrial)]
    },
    list(
      "Rules that denied",
      denials,
      ({ count: times, outcome, reason, rule }) =>
        `${times} ${outcome} by ${rule}: ${reason ?? "its reason is not disclosed, or none was written."}`,
      untracked(summary.untracked_denials, "denial", "by further rules")
    ),
    list(
      "Allowed to a gateway, with neither a decision nor a gap after it",
      summary.unfollowed,
      ({ agent_id: agent, at, evaluation_id: id, seq }) => `Record ${seq}, ${at}: ${id} of ${agent}.`,
      untracked(summary.unfollowed.untracked, "evaluation", "beyond those followed")
    ),
    list("Rules in words: versions published in these records", rules, ({ envelope, sentences, seq }) =>
      [`Record ${seq}, ${envelope}.`, ...sentences].join(" ")
    ),
    ...(Object.keys(sections) as ReadonlyArray<SectionName>).map((name) => sectionEntry(name, summary))
  ]
}

/** The title above them. */
export const summaryTitle = ({ records }: Summary): string =>
  `Who and what: the records of this pack (${records}) and their disclosed parts`

const sectionEntry = (name: SectionName, summary: Summary): Entry => {
  const section = summary.sections[name]
  return {
    title: `${sections[name]}: ${section.records}`,
    items: [...counts("By kind", section.kinds), ...remarks(name, summary), ...acts(section)]
  }
}

const remarks = (
  name: SectionName,
  { approvals_by_key_minter: ownKey, missing_decisions: missing }: Summary
): ReadonlyArray<string> =>
  name === "gaps" && missing > 0
    ? [`${count(missing, "decision")} missing, as the writers report.`]
    : name === "approvals" && ownKey > 0
      ? [`${count(ownKey, "approval")} by the person who minted the key that requested it; each is marked below.`]
      : []

const acts = ({ acts: { listed, more } }: SectionSummary): ReadonlyArray<string> => [
  ...listed.map(actText),
  ...(more === 0 ? [] : [`and ${more} more: --csv has every record.`])
]

const actText = ({
  about,
  after_ms: after,
  approved_by: approver,
  at,
  by,
  kind,
  minted_key: minted,
  note,
  seq
}: ActSummary): string =>
  `Record ${seq}, ${at}: ${kind} of ${about}${by === "" ? "" : `, by ${by}`}` +
  (approver === null ? "" : `, approved by ${approver}`) +
  (minted ? ", who minted the key that requested it" : "") +
  (after === null ? "" : `, after ${durationText(after)}`) +
  `.${note === null ? "" : ` ${sentence(note)}`}`

/** The largest two units of a duration. Unit: milliseconds. */
export const durationText = (ms: number): string => {
  if (ms < 1_000) return `${ms} ms`
  const place = UNITS.findIndex(([, unit]) => ms >= unit)
  const [name, unit] = UNITS[place]!
  const next = UNITS[place + 1]
  const rest = next === undefined ? 0 : Math.floor((ms % unit) / next[1])
  return `${Math.floor(ms / unit)} ${name}${rest === 0 ? "" : ` ${rest} ${next![0]}`}`
}
const UNITS: ReadonlyArray<readonly [name: string, ms: number]> = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
]

const sumText = ({ of, parts, total: sum }: Summary["sums"][number]): string => {
  const shown = Object.entries(parts).filter(([, number]) => number > 0)
  const meets = total(parts) === sum ? "" : " These do not add up: report this as a fault of the verifier."
  const added = shown.length === 0 ? "" : ` = ${shown.map(([name, number]) => `${number} ${name}`).join(" + ")}`
  return `${sum} ${of}${added}.${meets}`
}

const list = <A>(
  title: string,
  { listed, more }: Listed<A>,
  item: (one: A) => string,
  further: ReadonlyArray<string> = []
): Entry => ({
  title: `${title}: ${listed.length + more}`,
  items: [...listed.map(item), ...(more === 0 ? [] : [`and ${more} more.`]), ...further]
})

const untracked = (number: number, noun: string, of: string): ReadonlyArray<string> =>
  number === 0 ? [] : [`and ${count(number, noun)} ${of}, which are not listed.`]

const counts = (label: string, counted: Counted): ReadonlyArray<string> =>
  total(counted) === 0
    ? []
    : [
        `${label}: ${Object.entries(counted)
          .map(([value, number]) => `${number} ${value}`)
          .join(", ")}.`
      ]

const total = (counted: Counted): number => Object.values(counted).reduce((sum, number) => sum + number, 0)

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
