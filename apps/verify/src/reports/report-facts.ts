/** Sentences that both reports for people share, the text and the page, without a layout. */
import type { Finding, Report, Verdicts } from "@flyball/evidence"
import { bodyEntries } from "../bodies/bodies-report.ts"
import { brokenLinkText } from "../broken-link.ts"
import { findingText, resultText, unfaithfulText, verdictText } from "./explanations.ts"
import type { Extras } from "../extras.ts"
import type { ShownPrevious } from "../previous-chain.ts"
import { notReplayedEntry } from "../replay/not-replayed.ts"
import { replayEntries } from "../replay/replay-text.ts"

/** A list below a title. */
export interface Entry {
  readonly title: string
  readonly items: ReadonlyArray<string>
}

/** Which pack this is: labels and texts. */
export const facts = (
  { checkpoint, file, header, origin }: Report,
  previous: ShownPrevious | null
): ReadonlyArray<readonly [label: string, text: string]> => [
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
  (["integrity", "authenticity", "completeness", "anchoring"] as const).map((name) => ({
    name,
    value: verdicts[name],
    sentence: (verdictText[name] as { readonly [value: string]: string })[verdicts[name]]!
  }))

/** How much the pack holds. */
export const contents = ({ counts }: Report): string =>
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

/** Results of further readings, as lists. */
export const furtherEntries = ({ bodies, replayed }: Pick<Extras, "bodies" | "replayed">): ReadonlyArray<Entry> => [
  ...(bodies === null ? [] : bodyEntries(bodies)),
  ...(replayed === null || replayed.replay === null ? [] : [...replayEntries(replayed.replay), notReplayedEntry])
]

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
