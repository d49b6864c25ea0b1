/** A fairness analysis of a large data set: processor time, memory, and what is left of the event loop's turns. */
import { createHash } from "node:crypto"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setImmediate as turn } from "node:timers/promises"
import { analyse, codeDataSet, countDataSet, dataSetBytes, PERMUTATIONS } from "@flyball/rules"
import { generator } from "@flyball/statistics"
import { absolute, type Benchmark, figure, type Line } from "./harness.ts"

const ROWS = 100_000
const COLUMNS = 10
const ROUNDS = 3
const [GOAL_MS, GOAL_LOOP_MS, GOAL_MB] = [2_000, 20, 200]

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest())

/** Labels, scores of their own, and columns of 2 to 5 groups. */
const dataSet = () => {
  const random = generator(sha256(new Uint8Array(1)))
  const column = <A>(of: () => A): ReadonlyArray<A> => Array.from({ length: ROWS }, of)
  const names = Array.from({ length: COLUMNS }, (_, at) => `p${at}`)
  const columns = {
    y: column(() => (random.below(10) < 4 ? 1 : 0)),
    s: column(() => random.below(1_001) / 1_000),
    ...Object.fromEntries(names.map((name, at) => [name, column(() => `g${random.below(2 + (at % 4))}`)]))
  }
  return { columns, label: "y", score: "s", protected: names }
}

const inTurns = async <A>(work: Generator<void, A, void>): Promise<A> => {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await turn()
  }
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "fairness",
  about:
    `${ROWS.toLocaleString("en")} rows with labels and scores, ${COLUMNS} protected columns: all rates, intervals ` +
    `and ${PERMUTATIONS} tables or shuffles of each test, in slices; the last of ${ROUNDS} rounds, and ` +
    "what data set and analyses added to the memory of the process",
  run: async (say) => {
    const rssMb = (): number => process.memoryUsage.rss() / 1e6
    const base = rssMb()
    const input = dataSet()
    let [cpuMs, loopMs] = [0, 0]
    const digests = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const before = process.cpuUsage()
      const coded = await inTurns(codeDataSet(input))
      if ("msg" in coded) throw new Error(coded.msg)
      const digest = Buffer.from(sha256(await inTurns(dataSetBytes(coded.set)))).toString("hex")
      const groups = coded.values.map(({ length }) => length)
      const attributes = await inTurns(countDataSet(coded.set, groups))
      const question = { attributes, set: coded.set, digest, tolerancePpm: 100_000, permutations: PERMUTATIONS }
      const found = await inTurns(analyse(question, sha256))
      const { system, user } = process.cpuUsage(before)
      delay.disable()
      ;[cpuMs, loopMs] = [(user + system) / 1_000, delay.percentile(99) / 1e6]
      digests.add(Buffer.from(sha256(Buffer.from(JSON.stringify(found)))).toString("hex"))
      say(`round ${round}: ${cpuMs.toFixed(0)} ms of processor time`)
    }
    say(`memory of the process: ${base.toFixed(0)} MB before, ${rssMb().toFixed(0)} MB behind`)
    const added = rssMb() - base
    const line = (name: string, value: number, unit: string, goal: number): Line => ({
      name,
      value: figure(value),
      unit,
      ...absolute,
      goal: `< ${goal} ${unit}`,
      met: value < goal
    })
    return [
      line("fairness.analysis", cpuMs, "ms", GOAL_MS),
      line("fairness.loop_p99", loopMs, "ms", GOAL_LOOP_MS),
      line("fairness.memory_added", added, "MB", GOAL_MB),
      { ...line("fairness.results", digests.size, "", 2), goal: "1 result", met: digests.size === 1 }
    ]
  }
}
