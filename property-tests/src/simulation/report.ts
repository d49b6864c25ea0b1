/** Reports of runs. */
import type { SimulationResult } from "./simulate.ts"

/** A run that failed: what was found, what the seed chose, how to run it again. */
export const failureText = ({ options, problems }: SimulationResult): string =>
  [
    `seed ${options.seed} fails:`,
    ...problems.slice(0, 8).map((problem) => `  ${problem.slice(0, 600)}`),
    ...(problems.length > 8 ? [`  and ${problems.length - 8} more`] : []),
    `  options ${JSON.stringify(options)}`,
    `  again: npm run sim -- --seed ${options.seed}`
  ].join("\n")

/** Sums over several runs. */
export class Totals {
  seeds = 0
  records = 0
  faults = 0
  restarts = 0
  requests = 0
  retries = 0
  readonly answers = new Map<string, number>()

  /** Adds one run. */
  add(result: SimulationResult): void {
    this.seeds += 1
    this.records += result.records
    this.faults += result.faults
    this.restarts += result.restarts
    this.requests += result.requests
    this.retries += result.retries
    for (const [what, times] of result.answers) this.answers.set(what, (this.answers.get(what) ?? 0) + times)
  }

  /** How many answers clients got, refusals included. */
  get acknowledged(): number {
    return [...this.answers.values()].reduce((sum, times) => sum + times, 0)
  }
}
