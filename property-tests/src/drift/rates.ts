/**
 * How often a comparison of two windows finds a change: our test, and the tests that others use, on the same windows.
 */
import { inOneGo, portableCrypto } from "@flyball/evidence"
import { changeOf, DriftFollower, driftDecision } from "@flyball/rules"
import { type Generator32, jensenShannon, stabilityIndex } from "@flyball/statistics"
import { longAgents, shuffled, type TauDecision } from "./tau-runs.ts"

type Runs = ReadonlyArray<ReadonlyArray<TauDecision>>

/** The findings of one comparison of two windows, by the name of the test. */
export type Findings = { readonly [test: string]: boolean }

/** The tests of {@link compare}, with the threshold that each usually has. */
export const tests = [
  "ours, 5 %",
  "chi-square, one sample, 5 %",
  "chi-square, two samples, 5 %",
  "PSI from 0.1",
  "PSI from 0.25",
  "JS distance from 0.1"
] as const

/** Compares the last two windows of a stream; null where it is shorter, or has too few runs. */
export const compare = (runs: Runs, window: number, random: Generator32): Findings | null => {
  const all = runs.flatMap((run, at) => run.map((decision) => ({ ...decision, run_id: `run-${at}` })))
  if (all.length < 2 * window) return null
  const hash = Array.from({ length: 8 }, () => random.next().toString(16).padStart(8, "0")).join("")
  const decisions = all
    .slice(-2 * window)
    .map((decision, seq) => driftDecision({ seq, hash, body: { ...decision } }, null))
  const { status, verdict } = inOneGo(
    changeOf(
      { agentId: "agt_x", lookback: 2 * window, window, decisions, asOfSeq: all.length, annotations: [] },
      portableCrypto.sha256
    )
  )
  if (status !== "ok") return null
  const names = [...new Set(decisions.map(({ action }) => action))]
  const counted = (some: typeof decisions) => names.map((name) => some.filter(({ action }) => action === name).length)
  const [before, now] = [counted(decisions.slice(0, window)), counted(decisions.slice(window))]
  return {
    "ours, 5 %": verdict === "changed",
    "chi-square, one sample, 5 %": oneSample(before, now),
    "chi-square, two samples, 5 %": twoSamples(before, now),
    "PSI from 0.1": stabilityIndex(before, now) >= 0.1,
    "PSI from 0.25": stabilityIndex(before, now) >= 0.25,
    "JS distance from 0.1": jensenShannon(before, now) > 0.1
  }
}

/** A change that is made to runs. */
export type Change = (runs: Runs, random: Generator32) => Runs

/** Changes of which the power is measured. */
export const changes: { readonly [name: string]: Change } = {
  "a new tool once in 60 % of runs": (runs, random) =>
    runs.map((run) => (random.below(10) < 6 ? [...run, { action: "new_tool", status: "ok", kind: "tool_call" }] : run)),
  "half of the calls of the top tool go to another": (runs, random) => {
    const calls = runs.flat().filter(({ kind }) => kind === "tool_call")
    const times = (action: string): number => calls.filter((one) => one.action === action).length
    const top = [...new Set(calls.map(({ action }) => action))].toSorted((a, b) => times(b) - times(a))[0]
    return runs.map((run) =>
      run.map((one) => (one.action === top && random.below(2) === 0 ? { ...one, action: "new_tool" } : one))
    )
  }
}

/**
 * Findings of so many comparisons of reshuffled runs, by test. With `change` the newest half of the runs, by decisions,
 * is changed. Agents with too few decisions are passed over.
 */
export const rates = (
  window: number,
  rounds: number,
  random: Generator32,
  change: Change | null = null
): { readonly comparisons: number; readonly found: { readonly [test: string]: number } } => {
  const found: { [test: string]: number } = Object.fromEntries(tests.map((test) => [test, 0]))
  let comparisons = 0
  for (let round = 0; round < rounds; round++)
    for (const { runs } of longAgents) {
      const stream = shuffled(runs, random)
      const changed = change === null ? stream : withChange(stream, window, (some) => change(some, random))
      const findings = compare(changed, window, random)
      if (findings === null) continue
      comparisons++
      for (const test of tests) if (findings[test]) found[test]! += 1
    }
  return { comparisons, found }
}

/**
 * Alarms of so many streams of 128 runs, drawn with replacement from those of each agent; with `change` the second half
 * is changed. `after`: the runs between the change and the alarms, added up.
 */
export const alarms = (
  rounds: number,
  random: Generator32,
  change: Change | null = null
): { readonly streams: number; readonly alarmed: number; readonly after: number } => {
  let [streams, alarmed, after] = [0, 0, 0]
  for (let round = 0; round < rounds; round++)
    for (const { runs } of longAgents) {
      const drawn = Array.from({ length: 128 }, () => runs[random.below(runs.length)]!)
      const stream = change === null ? drawn : [...drawn.slice(0, 64), ...change(drawn.slice(64), random)]
      const first = eValuesOf(stream).find(([, value]) => value >= 20)
      streams++
      if (first === undefined) continue
      alarmed++
      after += first[0] - 64
    }
  return { streams, alarmed, after }
}

/** The e-value after each block of an agent's runs, by the number of runs. It goes on behind an alarm. */
export const eValuesOf = (runs: Runs): ReadonlyArray<readonly [runs: number, value: number]> => {
  const follower = new DriftFollower("agt_x", 0, portableCrypto.sha256)
  const values: Array<readonly [number, number]> = [[0, 1]]
  let [seq, tested] = [0, 8]
  runs.forEach((run, at) =>
    run.forEach((decision) => {
      follower.take({ seq: seq++, kind: "decision.witnessed", body: { ...decision, run_id: `run-${at}` } })
      if (!follower.isDue) return
      inOneGo(follower.test())
      values.push([(tested += 8), follower.value])
    })
  )
  return values
}

/** Changes the runs of the newest window. */
const withChange = (stream: Runs, window: number, change: (runs: Runs) => Runs): Runs => {
  let decisions = 0
  let first = stream.length
  while (first > 0 && decisions < window) decisions += stream[--first]!.length
  return [...stream.slice(0, first), ...change(stream.slice(first))]
}

/** The chi-square test that takes the window before as known, as Evidently does. */
const oneSample = (before: ReadonlyArray<number>, now: ReadonlyArray<number>): boolean => {
  const known = before.map((count) => (count === 0 ? null : count))
  // A value that the window before does not have: there the statistic is infinite.
  if (now.some((count, at) => count > 0 && known[at] === null)) return true
  const [n, m] = [sum(before), sum(now)]
  const statistic = now.reduce((all, count, at) => {
    const expected = (before[at]! * m) / n
    return expected === 0 ? all : all + (count - expected) ** 2 / expected
  }, 0)
  return chiSquareTail(statistic, before.filter((count) => count > 0).length - 1) < 0.05
}

const twoSamples = (before: ReadonlyArray<number>, now: ReadonlyArray<number>): boolean => {
  const [n, m] = [sum(before), sum(now)]
  const statistic = before.reduce((all, one, at) => {
    const both = one + now[at]!
    const [left, right] = [(both * n) / (n + m), (both * m) / (n + m)]
    return all + (one - left) ** 2 / left + (now[at]! - right) ** 2 / right
  }, 0)
  return chiSquareTail(statistic, before.length - 1) < 0.05
}

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((all, one) => all + one, 0)

/** The chance that a chi-square variable is at least `x`: the series of the incomplete gamma function. */
export const chiSquareTail = (x: number, degrees: number): number => {
  if (degrees < 1 || x <= 0) return 1
  const a = degrees / 2
  let term = 1 / a
  let series = term
  for (let n = 1; n < 1_000 && term > series * 1e-15; n++) {
    term *= x / 2 / (a + n)
    series += term
  }
  // Γ(a) of whole and half numbers, by its recurrence.
  let logGamma = degrees % 2 === 0 ? 0 : Math.log(Math.PI) / 2
  for (let at = degrees % 2 === 0 ? 1 : 0.5; at < a; at++) logGamma += Math.log(at)
  return Math.max(0, 1 - series * Math.exp(a * Math.log(x / 2) - x / 2 - logGamma))
}
