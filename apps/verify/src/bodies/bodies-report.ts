/** The result of comparing records with the catalogue, its text, and its effect on the report on the pack. */
import type { Report } from "@flyball/evidence"
import { whyNotIntact } from "../assurance.ts"
import { listed } from "../replay/counted.ts"
import { worstExit } from "../worst-exit.ts"

/** The member `bodies` of the report, as `--json` prints it. */
export interface BodiesReport {
  /** Records compared. */
  readonly records: number
  /** Records that are not as the catalogue describes their kind. */
  readonly wrong: number
  /** Records of kinds that this version has no row for. */
  readonly unknown: number
  /** The first {@link MAX_LISTED} that are wrong, by seq. `problem` shows no value. */
  readonly problems: ReadonlyArray<BodyProblem>
}

/** A record that is not as the catalogue describes its kind. */
export interface BodyProblem {
  readonly seq: number
  readonly kind: string
  readonly problem: string
}

/** Records that a report lists; the rest are counted. */
const MAX_LISTED = 20

/** Collects while records stream by. */
export class BodyCount {
  #records = 0
  #wrong = 0
  #unknown = 0
  readonly #problems: Array<BodyProblem> = []

  /** `problem`: null where nothing is wrong, `unknown` where nobody knows the kind. */
  add({ kind, seq }: { readonly kind: string; readonly seq: number }, problem: string | null): void {
    this.#records++
    if (problem === null) return
    if (problem === "unknown") this.#unknown++
    else if (++this.#wrong <= MAX_LISTED) this.#problems.push({ seq, kind, problem })
  }

  report(): BodiesReport {
    return { records: this.#records, wrong: this.#wrong, unknown: this.#unknown, problems: this.#problems }
  }
}

/**
 * The report on a pack whose bodies were requested; `bodies` is null where they could not be compared. A failed request
 * is status 2: nothing was tampered with.
 */
export const withBodies = (report: Report, bodies: BodiesReport | null): Report => {
  const sentences =
    bodies === null
      ? [`Bodies of records were not compared with the catalogue: ${whyNotIntact(report)}.`]
      : [
          ...(bodies.wrong === 0
            ? []
            : [
                `${plural(bodies.wrong, "record is", "records are")} not as section 8 of SPEC.md describes ` +
                  `${bodies.wrong === 1 ? "its kind" : "their kinds"}, and may have content that does not belong ` +
                  `there. Ask the operator which program wrote ${bodies.wrong === 1 ? "it" : "them"}.`
              ]),
          ...(bodies.unknown === 0
            ? []
            : [
                `${plural(bodies.unknown, "record is of a kind", "records are of kinds")} that this version ` +
                  `does not know, so ${bodies.unknown === 1 ? "its body was" : "their bodies were"} not ` +
                  "compared. A newer version may know it."
              ])
        ]
  return sentences.length === 0
    ? report
    : { ...report, not_checked: [...sentences, ...report.not_checked], exit: worstExit(report.exit, 2) }
}

/** The line beside the contents. */
export const bodyCounts = ({ records, unknown, wrong }: BodiesReport): string => {
  const counts = [
    `${records - wrong - unknown} in agreement`,
    ...(wrong === 0 ? [] : [`${wrong} not`]),
    ...(unknown === 0 ? [] : [`${unknown} of kinds that this version does not know`])
  ]
  return `${plural(records, "record", "records")} compared with the catalogue: ${counts.join(", ")}.`
}

/** The list below the findings. */
export const bodyEntries = ({
  problems,
  wrong
}: BodiesReport): ReadonlyArray<{ readonly title: string; readonly items: ReadonlyArray<string> }> =>
  wrong === 0
    ? []
    : [
        {
          title: `Records that do not agree with the catalogue: ${wrong}${listed(problems, wrong)}`,
          items: problems.map(({ problem, seq }) => `Record ${seq}: ${problem}`)
        }
      ]

const plural = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`
