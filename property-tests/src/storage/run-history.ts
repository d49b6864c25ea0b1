/** Running one random history on several stores side by side. */
import type { ChangeSet, StorageApi } from "@flyball/core/storage"
import type { Outcome } from "@flyball/testkit"
import {
  attempt,
  CaseTime,
  changeOf,
  HistoryWorld,
  historyScene,
  observe,
  pickFrom,
  plainOutcome,
  questionOf
} from "@flyball/testkit"
import { Effect } from "effect"
import { expect } from "vitest"

/** A store that takes part. The first of a list is the one that the others are held against. */
export interface Contestant {
  readonly name: string
  readonly storage: StorageApi
}

/** One step: a move of the clock, up to a few ChangeSets at once, and a question. Every number is a choice. */
export interface Step {
  readonly clockMs: number
  readonly changes: ReadonlyArray<ReadonlyArray<number>>
  readonly question: ReadonlyArray<number>
}

/** Counts over the histories of a test, to prove that they exercised something. */
export interface Tally {
  done: number
  /** How often each kind of conflict refused a commit. */
  readonly refusals: Map<string, number>
}

/** Nothing yet. */
export const emptyTally = (): Tally => ({ done: 0, refusals: new Map() })

/** 2026-05-01: far from zero, so that a clock that steps back stays positive. */
const start = Date.UTC(2026, 4, 1)

/**
 * Takes every step on every contestant, and fails at the first difference of an answer, then of the whole store.
 *
 * ChangeSets of one step are handed over together: a store with group commit takes them as one group, and must answer
 * as if they came one by one.
 */
export const runHistory = Effect.fnUntraced(function* (
  contestants: ReadonlyArray<Contestant>,
  steps: ReadonlyArray<Step>,
  tally: Tally
) {
  const world = new HistoryWorld()
  const time = yield* CaseTime
  let nowMs = start
  for (const step of steps) {
    nowMs += step.clockMs
    yield* time.set(nowMs)
    const changes = step.changes.map((numbers) => changeOf(pickFrom(numbers), world))
    const answers = yield* Effect.forEach(contestants, ({ storage }) => together(storage, changes))
    const reference = answers[0]!
    compare(
      contestants,
      answers.map((outcomes) => outcomes.map(plainOutcome)),
      "answered a group of commits"
    )
    for (const [index, outcome] of reference.entries()) {
      if ("refused" in outcome) {
        for (const { _tag } of outcome.refused) tally.refusals.set(_tag, (tally.refusals.get(_tag) ?? 0) + 1)
      } else {
        tally.done += 1
        world.learn(changes[index]!, outcome.done)
      }
    }
    const { text, ask } = questionOf(pickFrom(step.question), world)
    compare(contestants, yield* Effect.forEach(contestants, ({ storage }) => ask(storage)), text)
  }
  compare(
    contestants,
    yield* Effect.forEach(contestants, ({ storage }) => observe(storage, historyScene)),
    "as a whole"
  )
})

const together = (
  storage: StorageApi,
  changes: ReadonlyArray<ChangeSet>
): Effect.Effect<ReadonlyArray<Outcome>, unknown> =>
  Effect.forEach(changes, (change) => attempt(storage, change), { concurrency: "unbounded" })

const compare = (contestants: ReadonlyArray<Contestant>, answers: ReadonlyArray<unknown>, what: string): void => {
  for (const [index, answer] of answers.entries())
    expect(answer, `${contestants[index]!.name}, ${what}`).toEqual(answers[0])
}
