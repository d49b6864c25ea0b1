/** Counts the decisions of a window by group and outcome, and compares the groups. Service and verifier run it. */
import { memberAt, stepsOf } from "@flyball/envelope"
import type { FairnessScreenedBody } from "@flyball/evidence"
import type { Share } from "@flyball/statistics"
import { partValue } from "../records/part-json.ts"
import type { Json, JsonMap, PartContent } from "../records/record.ts"
import { compareGroups, MAX_GROUPS } from "./group-rates.ts"

/** Most decisions of one screen. */
export const MAX_SCREENED = 20_000

/** Characters of a group's value; a longer one counts as no value. */
export const MAX_GROUP_LENGTH = 200

/** Where the outcome of a decision stands. */
export type OutcomeSource = FairnessScreenedBody["source"]

/** A value of a label that can name a group or an outcome. */
export type LabelValue = string | number | boolean

/** The question of a screen. Paths are JSON pointers (RFC 6901) into `labels`. */
export interface ScreenQuestion {
  readonly group: string
  readonly source: OutcomeSource
  /** With source `labels` alone. */
  readonly path: string | null
  /** Outcomes that count as positive. */
  readonly positive: ReadonlyArray<LabelValue>
}

/** A decision as a screen reads it. */
export interface ScreenedDecision {
  /** The part `labels`; undefined where it has none. */
  readonly labels: PartContent | undefined
  /** Its status, or that of its settlement. */
  readonly status: string
  /** The outcome of the evaluation that it names; null where it names none that is there. */
  readonly evaluated: string | null
}

/** The members of a screen that a record states. */
export type ScreenCounts = Pick<
  FairnessScreenedBody,
  | "base"
  | "decisions"
  | "erased"
  | "groups"
  | "undefined_reason"
  | "ungrouped"
  | "ungrouped_positive"
  | "verdict"
  | "without_outcome"
>

/** The counts of a screen, with the values of the groups in their order. */
export interface Screened {
  readonly counts: ScreenCounts
  readonly values: ReadonlyArray<LabelValue>
}

interface Group extends Share {
  readonly value: LabelValue
}

/**
 * Counts decisions one by one. A decision whose labels are erased counts as `erased`; one without an outcome as
 * `without_outcome`, whatever its group; one without a value of its group as `ungrouped`.
 */
export class Screening {
  readonly #question: ScreenQuestion
  readonly #positive: ReadonlySet<string>
  /** By the group's value as JSON. */
  readonly #groups = new Map<string, Group>()
  #ungrouped: Share = { passed: 0, trials: 0 }
  #decisions = 0
  #erased = 0
  #withoutOutcome = 0

  constructor(question: ScreenQuestion) {
    this.#question = question
    this.#positive = new Set(question.positive.map((one) => JSON.stringify(one)))
  }

  /** Takes the next decision. */
  take({ evaluated, labels, status }: ScreenedDecision): void {
    const { group, path, source } = this.#question
    this.#decisions++
    if (labels?.state === "erased") {
      this.#erased++
      return
    }
    const read = partValue(labels)
    const labelAt = (at: string): LabelValue | null => (read.state === "known" ? valueAt(read.value, at) : null)
    const outcome = source === "labels" ? labelAt(path!) : source === "status" ? ended(status) : evaluated
    if (outcome === null) {
      this.#withoutOutcome++
      return
    }
    const isPositive = this.#positive.has(JSON.stringify(outcome))
    const value = labelAt(group)
    if (value === null) this.#ungrouped = counted(this.#ungrouped, isPositive)
    // More groups than are compared need no counts.
    else if (this.#groups.size <= MAX_GROUPS) {
      const text = JSON.stringify(value)
      this.#groups.set(text, counted(this.#groups.get(text) ?? { value, passed: 0, trials: 0 }, isPositive))
    }
  }

  /** The counts, with groups in the order of their values as JSON; null for more than {@link MAX_GROUPS} groups. */
  get screened(): Screened | null {
    if (this.#groups.size > MAX_GROUPS) return null
    const groups = [...this.#groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    return {
      counts: {
        decisions: this.#decisions,
        erased: this.#erased,
        ungrouped: this.#ungrouped.trials,
        ungrouped_positive: this.#ungrouped.passed,
        without_outcome: this.#withoutOutcome,
        ...compared(groups)
      },
      values: groups.map(({ value }) => value)
    }
  }
}

const counted = <S extends Share>(share: S, isPositive: boolean): S => ({
  ...share,
  passed: share.passed + (isPositive ? 1 : 0),
  trials: share.trials + 1
})

const compared = (
  groups: ReadonlyArray<Share>
): Pick<ScreenCounts, "base" | "groups" | "undefined_reason" | "verdict"> => {
  const found = compareGroups(groups)
  return {
    ...(found.base === null ? { undefined_reason: found.undefinedReason } : { base: found.base }),
    groups: groups.map(({ passed, trials }, at) => {
      const verdict = found.base === null ? null : found.groups[at]!
      return {
        ...(verdict === null ? {} : { below_four_fifths: verdict.belowFourFifths }),
        n: trials,
        positive: passed,
        ...(verdict === null ? {} : { verdict: verdict.verdict })
      }
    }),
    ...(found.verdict === null ? {} : { verdict: found.verdict })
  }
}

/** An intention has no outcome yet. `unknown` is one: nobody can say what came of it. */
const ended = (status: string): string | null => (status === "intended" ? null : status)

/** The text, number or boolean at a JSON pointer; null where there is none, or one that has no exact form. */
const valueAt = (labels: Json, path: string): LabelValue | null => {
  const found = (stepsOf(path) ?? []).reduce<unknown>(memberAt, labels)
  if (typeof found === "string") return found.length <= MAX_GROUP_LENGTH && found.isWellFormed() ? found : null
  return typeof found === "boolean" || (typeof found === "number" && Number.isFinite(found)) ? found : null
}

/** Reads the part `screen` of a record; null where it is not as a service writes it. */
export const readScreenPart = (
  members: JsonMap
): { readonly question: Omit<ScreenQuestion, "source">; readonly values: ReadonlyArray<LabelValue> } | null => {
  const { group, path = null, positive, values } = members
  return isPointer(group) && (path === null || isPointer(path)) && isValues(positive) && isValues(values)
    ? { question: { group, path, positive }, values }
    : null
}

const isPointer = (value: Json | undefined): value is string => typeof value === "string" && value.startsWith("/")

const isValues = (value: Json | undefined): value is ReadonlyArray<LabelValue> =>
  Array.isArray(value) && value.every((one) => ["string", "number", "boolean"].includes(typeof one))
