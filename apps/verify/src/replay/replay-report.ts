/** Result of recomputing a pack's evaluations, and its effect on the report on the pack. */
import type { ExitStatus, Report } from "@flyball/evidence"
import type { Recomputed, RecomputeVerdict } from "@flyball/rules"
import { worstExit } from "../worst-exit.ts"
import type { Act } from "./act.ts"
import { ActCount, actStatement, type FourEyesReport, wrongActs } from "./four-eyes-report.ts"
import { notReplayed } from "./not-replayed.ts"

/** Members in snake_case are the JSON that `--json` prints. */
export interface ReplayReport {
  readonly evaluations: number
  /** How many of them are verdicts that an agent's SDK gave while the service was away. */
  readonly local_verdicts: number
  /** How many judged records have each verdict; those that none has are left out. */
  readonly verdicts: { readonly [verdict in RecomputeVerdict]?: number }
  /** The first {@link MAX_LISTED} that do not follow from their envelopes, by seq. */
  readonly mismatches: ReadonlyArray<ListedEvaluation>
  /** The first {@link MAX_LISTED} that could not be recomputed, or only with what their own records tell, by seq. */
  readonly withheld: ReadonlyArray<ListedEvaluation>
  /** Evaluations that name a time long before that of their record: how many, and the first {@link MAX_LISTED} seqs. */
  readonly late: { readonly count: number; readonly seqs: ReadonlyArray<number>; readonly beyond_ms: number }
  /**
   * Records that do not agree with the catalogue: nothing was taken of them but the members that it
   * names.
   */
  readonly unreadable_records: number
  /** Records of kinds that this version has no row for: what they change, if anything, is not known here. */
  readonly unknown_kinds: number
  /** Why the records before the first one here are not known, where the chain follows another one; null otherwise. */
  readonly previous_missing: string | null
  /** How many of the withheld are so because one replay does no more work. */
  readonly over_budget: number
  /** How many of the withheld are so because a record says a time long before its own. */
  readonly backdated: number
  /** How many of the withheld are so because the key that wrote them had ended long before. */
  readonly key_ended: number
  readonly four_eyes: FourEyesReport
  /** Subjects that no replay checks: the same in every report. */
  readonly not_replayed: ReadonlyArray<string>
  readonly statement: string
}

/** A requested replay; null where it could not be made. `packExit` is the exit status of the pack itself. */
export interface Replayed {
  readonly replay: ReplayReport | null
  readonly packExit: ExitStatus
}

/** One evaluation. `reason` states the recomputed value and that of the record; it never shows a signal. */
export interface ListedEvaluation {
  readonly seq: number
  readonly verdict: RecomputeVerdict
  readonly evaluation_id: string
  readonly agent_id: string
  readonly reason: string
}

/** Evaluations that a report lists of either kind; the rest are counted. */
export const MAX_LISTED = 20

/** Collects verdicts while records stream by. */
export class ReplayCount {
  readonly #counts = new Map<RecomputeVerdict, number>()
  readonly #mismatches: Array<ListedEvaluation> = []
  readonly #withheld: Array<ListedEvaluation> = []
  readonly #late: Array<number> = []
  readonly #lateMs: number
  #lateCount = 0
  #local = 0
  /** True while each mismatch is of a verdict that an SDK gave, and the sealer recorded as it came. */
  #onlySdksErred = true
  #unknownKinds = 0
  readonly #because = { budget: 0, key: 0, late: 0 }
  readonly #acts = new ActCount()

  /** `lateMs`: how long before its record an evaluation is late. */
  constructor(lateMs: number) {
    this.#lateMs = lateMs
  }

  add({ agentId, because, evaluationId, isLate, isLocal, reason, seq, verdict }: Recomputed): void {
    if (isLocal === true) this.#local++
    if (because !== undefined) this.#because[because]++
    this.#counts.set(verdict, (this.#counts.get(verdict) ?? 0) + 1)
    if (isLate && ++this.#lateCount <= MAX_LISTED) this.#late.push(seq)
    if (verdict === "ok") return
    const list = verdict === "withheld" || verdict === "as_recorded" ? this.#withheld : this.#mismatches
    if (list === this.#mismatches && isLocal !== true) this.#onlySdksErred = false
    if (list.length < MAX_LISTED)
      list.push({ seq, verdict, evaluation_id: evaluationId, agent_id: agentId, reason: reason ?? "" })
  }

  addAct(act: Act): void {
    this.#acts.add(act)
  }

  addUnknownKind(): void {
    this.#unknownKinds++
  }

  report(unreadable: number, missing: string | null = null): ReplayReport {
    const counts = [...this.#counts]
    const evaluations = counts.reduce((sum, [, count]) => sum + count, 0)
    const rest = {
      evaluations,
      local_verdicts: this.#local,
      verdicts: Object.fromEntries(counts),
      mismatches: this.#mismatches,
      withheld: this.#withheld,
      late: { count: this.#lateCount, seqs: this.#late, beyond_ms: this.#lateMs },
      unreadable_records: unreadable,
      unknown_kinds: this.#unknownKinds,
      previous_missing: missing,
      over_budget: this.#because.budget,
      backdated: this.#because.late,
      key_ended: this.#because.key,
      four_eyes: this.#acts.report(),
      not_replayed: notReplayed
    }
    return { ...rest, statement: statementOf(rest, this.#onlySdksErred) }
  }
}

/** How many judged records do not follow from the records before them. */
export const mismatchCount = ({ evaluations, verdicts }: Pick<ReplayReport, "evaluations" | "verdicts">): number =>
  evaluations - (verdicts.ok ?? 0) - (verdicts.as_recorded ?? 0) - (verdicts.withheld ?? 0)

/** The report on a pack whose evaluations were recomputed, or could not be: then `why` says it. */
export const withReplay = (report: Report, replay: ReplayReport | null, why: string | null): Report => {
  if (replay === null)
    return {
      ...report,
      not_checked: [...(why === null ? [] : [why]), ...report.not_checked],
      exit: worstExit(report.exit, 2)
    }
  const notShown = (replay.verdicts.withheld ?? 0) - replay.over_budget - replay.backdated - replay.key_ended
  const open = [
    ...(replay.previous_missing === null || replay.evaluations === 0 ? [] : [replay.previous_missing]),
    ...(notShown === 0
      ? []
      : [
          `${plural(notShown, "judged record")} could not be recomputed, because their inputs are ` +
            `not in this pack. Request a full pack that discloses them.`
        ]),
    ...(replay.over_budget === 0
      ? []
      : [
          `${plural(replay.over_budget, "standing approval")} ` +
            `${replay.over_budget === 1 ? "was" : "were"} not proved to be as narrow as the review behind it: one ` +
            "replay does a bounded amount of such work, and the proofs before took it. A pack that is made to waste " +
            "time causes this. Replay a pack of fewer records."
        ]),
    ...(replay.backdated === 0
      ? []
      : [
          `${plural(replay.backdated, "record")} of stops ${replay.backdated === 1 ? "says" : "say"} a time more ` +
            "than 5 minutes before the record's own. A host that slept, or whose clock was slow, causes this, and so " +
            "does a time that was made up. Ask the operator."
        ]),
    ...(replay.key_ended === 0
      ? []
      : [
          `${plural(replay.key_ended, "record")} ${replay.key_ended === 1 ? "is" : "are"} written by an ingest key ` +
            "more than 5 minutes after it was revoked or had expired. A host that slept causes this, and so does a " +
            "key that was not refused. Ask the operator."
        ]),
    ...((replay.verdicts.as_recorded ?? 0) === 0
      ? []
      : [
          `${plural(replay.verdicts.as_recorded!, "judged record")} ` +
            `${replay.verdicts.as_recorded === 1 ? "was" : "were"} recomputed only with the tier, status, ` +
            `versions and sums that ` +
            `${replay.verdicts.as_recorded === 1 ? "its record states" : "their records state"}, because the ` +
            `records that prove them are before this pack. Request a full pack.`
        ]),
    ...((replay.four_eyes.verdicts.withheld ?? 0) === 0
      ? []
      : [
          "It is unknown whether two people made " +
            `${plural(replay.four_eyes.verdicts.withheld!, "act")} (drafts, publications and grants of waivers), ` +
            "because the records or parts that show it are not in this pack."
        ]),
    ...(replay.late.count === 0
      ? []
      : [
          `${plural(replay.late.count, "evaluation")} ` +
            `${replay.late.count === 1 ? "names a time" : "name times"} more than ` +
            `${replay.late.beyond_ms / 60_000} minutes before ` +
            `${replay.late.count === 1 ? "its record" : "their records"}. A host that slept causes this, and so ` +
            `does a caller that wants to use an ended waiver or status. Ask the operator.`
        ]),
    ...(replay.unreadable_records === 0 || replay.evaluations + replay.four_eyes.acts === 0
      ? []
      : [
          `${plural(replay.unreadable_records, "record")} of agents, envelopes or evaluations that ` +
            `${replay.unreadable_records === 1 ? "is" : "are"} not in the form that this version knows: unknown ` +
            `members were ignored when records were judged.`
        ]),
    ...(replay.unknown_kinds === 0 || replay.evaluations + replay.four_eyes.acts === 0
      ? []
      : [
          `${plural(replay.unknown_kinds, "record")} of kinds that this version does not know: ignored when ` +
            `records were judged. A newer version may know them.`
        ])
  ]
  return {
    ...report,
    not_checked: [...open, ...report.not_checked],
    exit: worstExit(report.exit, mismatchCount(replay) + wrongActs(replay.four_eyes) > 0 ? 1 : open.length > 0 ? 2 : 0)
  }
}

type Counted = Pick<ReplayReport, "evaluations" | "mismatches" | "verdicts">

const statementOf = (replay: Counted & Pick<ReplayReport, "four_eyes">, onlySdksErred: boolean): string => {
  const people = actStatement(replay.four_eyes)
  const evaluations = evaluationsStatement(replay, onlySdksErred)
  return people === null ? evaluations : `${people} ${evaluations}`
}

const evaluationsStatement = (replay: Counted, onlySdksErred: boolean): string => {
  const { evaluations, verdicts } = replay
  const wrong = mismatchCount(replay)
  const first = replay.mismatches[0]
  if (first !== undefined)
    return (
      `${wrong === 1 ? "One judged record does" : `${wrong} judged records do`} not follow ` +
      `from the records before ${wrong === 1 ? "it" : "them"} ` +
      `(${wrong === 1 ? "" : "the first: "}${first.verdict} at record ${first.seq}): ` +
      (onlySdksErred
        ? "an agent's SDK reports a verdict that its envelopes do not give."
        : "the sealer of this chain sealed something that does not follow from its rules.")
    )
  if (evaluations === 0) return "This pack has no record that is judged, so none was recomputed."
  const good = verdicts.ok ?? 0
  const made = good === evaluations ? "Every judged record follows" : `${good} of ${evaluations} judged records follow`
  return (
    `${made} from the envelopes in force and the records before it; that the signals were true, that the ` +
    "agent asked before it acted, and that it followed the answer, is not proved by this."
  )
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
