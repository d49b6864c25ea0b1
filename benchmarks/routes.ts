/** The solver of routes on published instances: the gap to the best known plans, and the time to a first plan. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { checkPlan, routingMatrix, solveRoutes } from "@flyball/rules"
import { readInstance } from "../packages/rules/src/testing/routing-instances.ts"
import { absolute, type Benchmark, figure, type Line } from "./harness.ts"

const fixtures = fileURLToPath(new URL("../fixtures/routing", import.meta.url))

/** Sets by the names of their files: with the seconds of each, and the goal of the mean gap. */
const sets = [
  { name: "x", of: /^X-/u, seconds: 10, goal: 1 },
  { name: "windows-1000", of: /^R?C?\d_\d+_\d+/u, seconds: 10, goal: 3.5 },
  { name: "solomon", of: /^R?C?\d{3}\./u, seconds: 1, goal: 1.2 },
  { name: "depots", of: /^p\d\d\./u, seconds: 3, goal: 3 },
  { name: "mixed", of: /^(?:vfmp|HVRP)/u, seconds: 3, goal: 4 }
]
const [GOAL_FIRST_MS, GOAL_MB] = [300, 150]

/** `--seconds=N` for all sets, `--folder=PATH` of instances, `--only=TEXT` that a file's name contains. */
const option = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "routes",
  about:
    "mean gap to the best known plan after seconds of one thread's processor time, one seed, each plan passed by " +
    "the checker; time to a first plan; memory",
  run: async (say) => {
    const folder = option("folder") ?? fixtures
    if (!statSync(folder).isDirectory()) throw new Error(`Expected a folder of instances at ${folder}.`)
    const files = readdirSync(folder).filter(
      (file) => /\.(vrp|txt)$/u.test(file) && file.includes(option("only") ?? "")
    )
    const lines: Array<Line> = []
    let largest = { file: "", jobs: 0 }
    for (const { name, of, goal, ...set } of sets) {
      const seconds = Number(option("seconds") ?? set.seconds)
      const gaps: Array<number> = []
      for (const file of files.filter((each) => of.test(each))) {
        const { problem, best } = instance(folder, file)
        const matrix = routingMatrix(problem.distances)
        const search = { seed: file, maxMs: seconds * 1_000, now: processorMs, stop: () => false }
        const { plan, trace } = solveRoutes(problem, matrix, search)
        const fault = checkPlan(problem, matrix, plan)
        if (fault !== null || plan.unassigned.length > 0) throw new Error(`${file}: ${fault ?? "jobs are left out"}`)
        const gap = (plan.cost / best - 1) * 100
        gaps.push(gap)
        say(`${file}: ${plan.metres} m, ${gap.toFixed(2)} % over the best known, ${trace.iterations} iterations`)
        if (problem.jobs.length > largest.jobs) largest = { file, jobs: problem.jobs.length }
      }
      if (gaps.length === 0) continue
      const value = figure(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length)
      const goalText = `mean of ${gaps.length} at ${seconds} s: ${goal} %`
      lines.push({ name: `routes.${name}`, value, unit: "%", ...absolute, goal: goalText, met: value <= goal })
    }
    const firstMs = figure(firstPlanMs(folder, largest.file))
    const mb = figure(process.memoryUsage.rss() / 1e6)
    const ofJobs = `${largest.jobs} jobs`
    return [
      ...lines,
      line("first-plan", firstMs, "ms", `${ofJobs}: ${GOAL_FIRST_MS}`, firstMs <= GOAL_FIRST_MS),
      line("rss", mb, "MB", `${GOAL_MB}`, mb <= GOAL_MB)
    ]
  }
}

/** Processor time of this thread: the second core and who else works on the machine do not count. */
const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const line = (name: string, value: number, unit: string, goal: string, met: boolean): Line => ({
  name: `routes.${name}`,
  value,
  unit,
  ...absolute,
  goal,
  met
})

/** Reads an instance with its `.sol`, or with a `BKS.json` of costs by name in the folder above. */
const instance = (folder: string, file: string) => {
  const read = (name: string) => readFileSync(join(folder, name), "utf8")
  const [stem, list] = [file.replace(/\.\w+$/u, ""), "../BKS.json"]
  if (!existsSync(join(folder, list))) return readInstance(read(file), read(`${stem}.sol`))
  const known = JSON.parse(read(list)) as { readonly [name: string]: { readonly best_known_cost: number } }
  return readInstance(read(file), `Cost ${known[stem]!.best_known_cost}`)
}

/** From the problem to the first plan, the matrix too. */
const firstPlanMs = (folder: string, file: string): number => {
  const { problem } = instance(folder, file)
  const startedAt = processorMs()
  let firstAt: number | null = null
  const onBest = () => (firstAt ??= processorMs())
  const search = { seed: file, maxMs: 0, now: processorMs, stop: () => true, onBest }
  solveRoutes(problem, routingMatrix(problem.distances), search)
  return firstAt! - startedAt
}
