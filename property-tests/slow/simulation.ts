/**
 * `npm run slow -- simulation [--seeds N] [--from S]`: ten thousand seeds, the kept ones first. About ten minutes on one core.
 * `npm run sim -- --seed S`: prints the options that the seed chose, runs it, and prints what happened.
 *
 * A seed that fails is printed with its options and kept in fixtures/seeds.txt.
 */
import { failureText, Totals } from "../src/simulation/report.ts"
import { keepSeed, keptSeeds } from "../src/simulation/seeds.ts"
import { simulate } from "../src/simulation/simulate.ts"
import { optionsOfSeed } from "../src/simulation/options.ts"
import { numbersOf } from "./options.ts"

const SEEDS = 10_000
/** Seeds between two lines of progress. */
const PROGRESS = 1_000

const one = async (seed: number): Promise<boolean> => {
  console.log(JSON.stringify(optionsOfSeed(seed), null, 2))
  const result = await simulate(seed, { seen: (line) => console.log(line) })
  console.log([...result.answers].map(([what, times]) => `${what} ${times}`).join(", "))
  console.log(`${result.records} records, ${result.faults} faults, ${result.restarts} restarts, ${result.steps} steps, digest ${result.digest}`)
  if (result.problems.length > 0) console.log(failureText(result))
  return result.problems.length === 0
}

/** Runs the seeds. True when no checker found anything. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { from = 1, seed, seeds = SEEDS } = numbersOf(args, ["seed", "seeds", "from"])
  if (seed !== undefined) return one(seed)
  const startedAt = performance.now()
  const totals = new Totals()
  const failed: Array<number> = []
  for (const next of [...keptSeeds(), ...Array.from({ length: seeds }, (_, index) => from + index)]) {
    const result = await simulate(next)
    totals.add(result)
    if (result.problems.length > 0) {
      console.log(failureText(result))
      keepSeed(next, result.problems[0]!)
      failed.push(next)
    }
    if (totals.seeds % PROGRESS === 0) console.log(`${totals.seeds} seeds, ${failed.length} failed, ${seconds(startedAt)} s`)
  }
  console.log([...totals.answers].sort(([a], [b]) => a < b ? -1 : 1).map(([what, times]) => `${what} ${times}`).join(", "))
  console.log(`${totals.seeds} seeds (from ${from}): ${failed.length} failed; ${totals.acknowledged} answers, ${totals.records} records, ${totals.faults} faults, ${totals.restarts} restarts; ${seconds(startedAt)} s`)
  return failed.length === 0
}

const seconds = (startedAt: number): string => ((performance.now() - startedAt) / 1_000).toFixed(1)
