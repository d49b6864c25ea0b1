/**
 * `npm run slow -- simulation [--seeds N] [--from S] [--processes P]`: ten thousand seeds, the kept ones first, on as
 * many processes as there are cores
 * (8 at most). About six minutes on two cores.
 * `npm run sim -- --seed S`: prints the options that the seed chose, runs it, and prints what happened.
 *
 * A seed that fails is printed with its options and kept in fixtures/seeds.txt.
 */
import { availableParallelism } from "node:os"
import { keepSeed, keptSeeds } from "../src/simulation/seeds.ts"
import { failureText } from "../src/simulation/report.ts"
import { simulate } from "../src/simulation/simulate.ts"
import { optionsOfSeed } from "../src/simulation/options.ts"
import { runSeeds } from "../src/simulation/run-seeds.ts"
import { numbersOf } from "./options.ts"

const SEEDS = 10_000
/** Seeds between two lines of progress. */
const PROGRESS = 1_000
/** More would mostly wait for memory. */
const MOST_PROCESSES = 8

const one = async (seed: number): Promise<boolean> => {
  console.log(JSON.stringify(optionsOfSeed(seed), null, 2))
  const result = await simulate(seed, { seen: (line) => console.log(line) })
  console.log([...result.answers].map(([what, times]) => `${what} ${times}`).join(", "))
  console.log(
    `${result.records} records, ${result.faults} faults, ${result.restarts} restarts, ${result.requests} ` +
      `requests of webhooks, ${result.steps} steps, digest ${result.digest}`
  )
  if (result.problems.length > 0) console.log(failureText(result))
  return result.problems.length === 0
}

/** Runs the seeds. True when no checker found anything. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const {
    from = 1,
    processes = Math.min(MOST_PROCESSES, availableParallelism()),
    seed,
    seeds = SEEDS
  } = numbersOf(args, ["seed", "seeds", "from", "processes"])
  if (seed !== undefined) return one(seed)
  const startedAt = performance.now()
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1)
  let [done, failed] = [0, 0]
  const totals = await runSeeds(
    [...keptSeeds(), ...Array.from({ length: seeds }, (_, index) => from + index)],
    Math.max(1, processes),
    (result) => {
      if (result.problems.length > 0) {
        console.log(failureText(result))
        keepSeed(result.options.seed, result.problems[0]!)
        failed += 1
      }
      if (++done % PROGRESS === 0) console.log(`${done} seeds, ${failed} failed, ${seconds()} s`)
    }
  )
  console.log(
    [...totals.answers]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, times]) => `${what} ${times}`)
      .join(", ")
  )
  console.log(
    `${totals.seeds} seeds (from ${from}, ${processes} processes): ${failed} failed; ${totals.acknowledged} ` +
      `answers, ${totals.records} records, ${totals.faults} faults, ${totals.restarts} restarts, ` +
      `${totals.requests} requests of webhooks (${totals.retries} of them retries); ${seconds()} s`
  )
  return failed === 0
}
