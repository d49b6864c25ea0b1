/** Sentences that both reports for people share, the text and the page, without a layout. */
import { verdictNames } from "../assurance.ts"
import type { Finding, Report, Verdicts } from "@flyball/evidence"
import { assuranceOf, integrityLine } from "../assurance.ts"
import { bodyCounts, bodyEntries } from "../bodies/bodies-report.ts"
import { brokenLinkText } from "../broken-link.ts"
import { certificateEntries, certificateText } from "../certificate/certificate-text.ts"
import { coverageSentence } from "../coverage.ts"
import { findingText, resultText, unfaithfulText, verdictText } from "./explanations.ts"
import type { Extras } from "../extras.ts"
import type { ShownPrevious } from "../previous-chain.ts"
import { actCounts } from "../replay/four-eyes-report.ts"
import { notReplayedEntry } from "../replay/not-replayed.ts"
import { replayCounts, replayEntries } from "../replay/replay-text.ts"
import { answerText } from "../answer/answer-text.ts"
import { usageEntry, usageText } from "../usage/usage-text.ts"

/** A list below a title. */
export interface Entry {
  readonly title: string
  readonly items: ReadonlyArray<string>
}

/** A label and its text. */
export type Line = readonly [label: string, text: string]

/** The assurances of a pack in two lines. */
export const assurances = (report: Report, { replayed, summary }: Extras): ReadonlyArray<Line> => [
  ["Integrity", integrityLine(report)],
  ["Assurance", assuranceOf(report, summary?.capture ?? null, replayed?.replay ?? null).text]
]

/** Which pack this is. */
export const facts = ({ checkpoint, file, header, origin }: Report, { previous }: Extras): ReadonlyArray<Line> => [
  ["Evidence pack", file ?? "given in memory"],
  ...(origin === null ? [] : [["Chain", origin] as const]),
  ...(header === null || checkpoint === null
    ? []
    : [["Covers", `${covers(header)}, in a chain of ${count(checkpoint.size, "record")}`] as const]),
  ...(header === null
    ? []
    : [["Made", `${header.created.slice(0, 10)} ${header.created.slice(11, 19)} UTC, as the pack says`] as const]),
  ...(previous === null ? [] : [["Follows", follows(previous)] as const])
]

/** The result in two words and a sentence. */
export const resultSentence = ({ exit }: Report, replayed: Extras["replayed"]): string =>
  exit === 1 && replayed !== null && replayed.packExit !== 1 ? unfaithfulText : resultText[exit]

/** The four verdicts, each with the sentence that explains it. */
export const explainedVerdicts = ({
  verdicts
}: Report): ReadonlyArray<{ readonly name: keyof Verdicts; readonly value: string; readonly sentence: string }> =>
  verdictNames.map((name) => ({
    name,
    value: verdicts[name],
    sentence: (verdictText[name] as { readonly [value: string]: string })[verdicts[name]]!
  }))

/** How much the pack holds. */
const contents = ({ counts }: Report): string =>
  `${count(counts.records, "record")}, ${count(counts.parts_disclosed, "part")} disclosed, ` +
  `${counts.parts_withheld} withheld, ${counts.parts_erased} erased.`

/** A finding: what it means, with its code and place; and what was expected and found. */
export const explainedFinding = (one: Finding, report: Report): readonly [meaning: string, values: string] => {
  const { code, expected, found, line, seq } = one
  const place = [...(seq === null ? [] : [`record ${seq}`]), ...(line === null ? [] : [`line ${line}`])].join(", ")
  return [
    `${brokenLinkText(one, report) ?? findingText[code]} (${code}${place === "" ? "" : `, ${place}`})`,
    `Expected ${expected}; found ${found}.`
  ]
}

/** Lines below the verdicts, in groups: what the pack holds, and what further readings found. */
export const resultLines = (
  report: Report,
  { answer, bodies, certificate, replayed, usage }: Extras
): ReadonlyArray<ReadonlyArray<Line>> => {
  const replay = replayed?.replay ?? null
  return [
    report.checkpoint === null ? [] : [["Contents", contents(report)]],
    replay === null
      ? []
      : [
          ["Evaluations", replayCounts(replay)],
          ["Four eyes", actCounts(replay.four_eyes)]
        ],
    bodies === null ? [] : [["Bodies", bodyCounts(bodies)]],
    certificate === null ? [] : [["Certificate", certificateText(certificate)]],
    usage === null ? [] : [["Usage", usageText(usage)]],
    answer === null ? [] : [["Answer", answerText(answer)]]
  ]
}

/** Lists below the findings: what further readings found. */
export const furtherEntries = ({ bodies, certificate, replayed, usage }: Extras): ReadonlyArray<Entry> => [
  ...(bodies === null ? [] : bodyEntries(bodies)),
  ...(replayed === null || replayed.replay === null ? [] : [...replayEntries(replayed.replay), notReplayedEntry]),
  ...(certificate === null ? [] : certificateEntries(certificate)),
  ...(usage === null ? [] : [usageEntry(usage)])
]

/** Sentences about what all of it means. */
export const meaning = (report: Report, { replayed }: Extras): ReadonlyArray<string> => {
  const coverage = coverageSentence(report)
  return [
    report.statement,
    ...(replayed === null || replayed.replay === null ? [] : [replayed.replay.statement]),
    ...(coverage === null ? [] : [coverage])
  ]
}

const covers = ({ from, kind, to }: NonNullable<Report["header"]>): string =>
  kind === "full"
    ? `all records, ${from} to ${to}`
    : kind === "range"
      ? `records ${from} to ${to}`
      : `a selection of the records ${from} to ${to}`

/** Describes the chain that this one follows. */
const follows = (previous: ShownPrevious): string => {
  if (typeof previous === "string") return "another chain, which this pack does not show as it must; see below."
  const { origin, signedSize, storedSize } = previous
  const after =
    signedSize === null ? "its signing guard was lost" : `${count(signedSize, "record")} of that one were signed`
  return (
    `${origin}. This chain was begun after ${after}, ` +
    `when its store held ${storedSize}. A pack and a checkpoint of that chain, from before, show what is missing.`
  )
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
