/** The result of the check that two people did what requires two, and its text. */
import type { Act, ActVerdictName } from "./act.ts"
import { countedVerdicts, listed } from "./counted.ts"

/** The member `four_eyes` of a replay, as `--json` prints it. */
export interface FourEyesReport {
  /** Drafts, publications and grants of waivers. */
  readonly acts: number
  /** How many acts have each verdict; those that none has are left out. */
  readonly verdicts: { readonly [verdict in ActVerdictName]?: number }
  /** The first {@link MAX_LISTED} that are not as they should be, by seq. */
  readonly mismatches: ReadonlyArray<Act>
  /** The first {@link MAX_LISTED} that could not be judged, by seq. */
  readonly withheld: ReadonlyArray<Act>
}

/** Acts that a report lists of either kind; the rest are counted. */
const MAX_LISTED = 20

/** Collects acts while records stream by. */
export class ActCount {
  readonly #counts = new Map<ActVerdictName, number>()
  readonly #mismatches: Array<Act> = []
  readonly #withheld: Array<Act> = []

  add(act: Act): void {
    const { verdict } = act
    this.#counts.set(verdict, (this.#counts.get(verdict) ?? 0) + 1)
    if (verdict === "ok") return
    const list = verdict === "withheld" ? this.#withheld : this.#mismatches
    if (list.length < MAX_LISTED) list.push(act)
  }

  report(): FourEyesReport {
    const counts = [...this.#counts]
    return {
      acts: counts.reduce((sum, [, count]) => sum + count, 0),
      verdicts: Object.fromEntries(counts),
      mismatches: this.#mismatches,
      withheld: this.#withheld
    }
  }
}

/** How many acts are not as they should be. */
export const wrongActs = ({ acts, verdicts }: FourEyesReport): number =>
  acts - (verdicts.ok ?? 0) - (verdicts.withheld ?? 0)

/** One sentence per verdict. */
export const actText: { readonly [verdict in ActVerdictName]: string } = {
  ok: "It was done as the rules require.",
  digest_mismatch: "Its statements about its own parts are wrong.",
  second_person_missing: "It requires two people, and one did it.",
  authors_mismatch: "Not all who wrote it are among its authors.",
  draft_mismatch: "The published text is not the drafted one.",
  number_mismatch: "Its version or revision is not the next one.",
  waiver_mismatch: "The grant differs from the request.",
  withheld: "It could not be checked."
}

/** How many acts there are, by verdict. */
export const actCounts = ({ acts, verdicts }: FourEyesReport): string => {
  if (acts === 0) return "no version and no waiver."
  return (
    `${acts} ${acts === 1 ? "draft, publication or grant" : "drafts, publications and grants"}: ` +
    `${countedVerdicts(actText, verdicts)}.`
  )
}

/** The lists below the findings. */
export const actEntries = (
  report: FourEyesReport
): ReadonlyArray<{ readonly title: string; readonly items: ReadonlyArray<string> }> => {
  const wrong = wrongActs(report)
  const open = report.verdicts.withheld ?? 0
  return [
    ...(wrong === 0
      ? []
      : [
          {
            title:
              "Versions and waivers that were not made as the rules require: " +
              `${wrong}${listed(report.mismatches, wrong)}`,
            items: report.mismatches.map(item)
          }
        ]),
    ...(open === 0
      ? []
      : [
          {
            title: `Versions and waivers that could not be checked: ${open}${listed(report.withheld, open)}`,
            items: report.withheld.map(item)
          }
        ])
  ]
}

/** States the acts that break a rule; null where there are none. */
export const actStatement = (report: FourEyesReport): string | null => {
  const wrong = wrongActs(report)
  const first = report.mismatches[0]
  if (first === undefined) return null
  return (
    `${wrong === 1 ? "One version or waiver was" : `${wrong} versions or waivers were`} not made as the ` +
    `rules require (${wrong === 1 ? "" : "the first: "}${first.verdict} at record ${first.seq}): the ` +
    "sealer of this chain sealed something that this service refuses."
  )
}

const item = ({ about, kind, reason, seq, verdict }: Act): string =>
  `Record ${seq}: ${actText[verdict]} ${reason ?? ""} (${verdict}, ${kind} of ${about})`
