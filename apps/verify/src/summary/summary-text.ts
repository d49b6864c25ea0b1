/** A summary in lists for people. */
import type { Entry } from "../reports/report-facts.ts"
import type { Counted, Listed, Summary } from "./summary.ts"

/** The lists; those without an entry are one line. */
export const summaryEntries = (summary: Summary): ReadonlyArray<Entry> => {
  const { agents, changes, decisions, denials, erasures, gaps, verdicts, verdicts_on_trial: onTrial } = summary
  return [
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
      "Denials, by rule",
      denials,
      ({ count: times, outcome, reason, rule }) =>
        `${times} ${outcome} by ${rule}: ${reason ?? "its reason is not disclosed, or none was written."}`,
      untracked(summary.untracked_denials, "denial", "by further rules")
    ),
    list(
      "Changes",
      changes,
      ({ about, approved_by: approver, at, by, kind, note, seq }) =>
        `Record ${seq}, ${at}: ${kind} of ${about}, by ${by}` +
        `${approver === null ? "" : `, approved by ${approver}`}.${note === null ? "" : ` ${sentence(note)}`}`
    ),
    list(
      `Gaps in capture, ${count(gaps.missing, "decision")} missing`,
      gaps,
      ({ agent, from, missing, reason, seq, to }) =>
        `Record ${seq}: ${count(missing, "decision")} of ${agent}, ${from} to ${to} (${reason}).`
    ),
    list(
      "Erasures",
      erasures,
      ({ at, part, reason, record, seq }) => `Record ${seq}, ${at}: the part ${part} of record ${record} (${reason}).`
    )
  ]
}

/** The title above them. */
export const summaryTitle = ({ records }: Summary): string =>
  `Who and what: the records of this pack (${records}) and their disclosed parts`

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
