/**
 * Runs seeds on several processes: one takes the next seed when it is through with the last, and a process that dies
 * takes its seed's name with it.
 */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Totals } from "./report.ts"
import type { SimulationResult } from "./simulate.ts"

/** A result as it travels between processes. */
export type SentResult = Omit<SimulationResult, "answers"> & {
  readonly answers: ReadonlyArray<readonly [string, number]>
}

const program = fileURLToPath(new URL("./seed-process.ts", import.meta.url))

/** Seeds that wait at a process, so that it never waits for us. */
const AHEAD = 2

/** Runs all of them, tells of each result as it comes, and answers what they amount to. Rejects when a process dies. */
export const runSeeds = async (
  seeds: ReadonlyArray<number>,
  processes: number,
  tell: (result: SimulationResult) => void
): Promise<Totals> => {
  const totals = new Totals()
  let next = 0
  const children: Array<ChildProcess> = []
  const runOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(program, { serialization: "advanced" })
      children.push(child)
      const under = new Set<number>()
      const give = (): void => {
        while (under.size < AHEAD && next < seeds.length) {
          const seed = seeds[next++]!
          under.add(seed)
          child.send(seed)
        }
        if (under.size === 0) child.disconnect()
      }
      child.on("message", (sent: SentResult) => {
        under.delete(sent.options.seed)
        const result = { ...sent, answers: new Map(sent.answers) }
        totals.add(result)
        tell(result)
        give()
      })
      child.on("error", reject)
      child.on("exit", (status, signal) =>
        under.size === 0
          ? resolve()
          : reject(
              new Error(
                `a process of the simulation ended with ${status ?? signal} at one of the seeds ` +
                  `${[...under].join(", ")}`
              )
            )
      )
      give()
    })
  try {
    await Promise.all(Array.from({ length: Math.min(processes, Math.max(1, seeds.length)) }, runOne))
  } finally {
    for (const child of children) child.kill()
  }
  return totals
}
