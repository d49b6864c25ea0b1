/** Behaviour change in a large store: processor time of a comparison, and the event loop of the host meanwhile. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Governor, openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { decisionAt, decisionsFrom } from "./decisions.ts"
import { absolute, type Benchmark, figure, type Line, median, quantile } from "./harness.ts"

const STORE = 1_000_000
const LOOKBACK = 2_000
/** Runs of the agent: of ten decisions each. They lie all over the store. */
const RUNS = LOOKBACK / 10
const BATCH = 1_000
const CALLERS = 4
const ROUNDS = 15
const [GOAL_MS, GOAL_LOOP_MS] = [300, 5]

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "behavior",
  about:
    `change with a lookback of ${LOOKBACK} decisions, all settled, in a store of ${STORE.toLocaleString("en")} ` +
    "decisions on SQLite, 999 permutations: the medians of " +
    `${ROUNDS} comparisons after 3 to warm up, of processor time (all threads) and of the 99th percentile of how ` +
    "long the host's thread worked in one turn of its event loop",
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    try {
      const governor = await openGovernor({
        storage: sqliteStorage({ file: join(folder, "behavior.db") }),
        keys: dataFolder({ dir: join(folder, "keys"), origin: "flyball.example/bench" })
      })
      const agentId = await fill(governor, say)
      const [cpu, loop, whole]: ReadonlyArray<Array<number>> = [[], [], []]
      for (let round = -3; round < ROUNDS; round++) {
        const turns = watchTurns()
        const before = process.cpuUsage()
        const startedAt = performance.now()
        const { params, status } = await governor.behavior.change(agentId, { lookback: LOOKBACK })
        const wholeMs = performance.now() - startedAt
        const { system, user } = process.cpuUsage(before)
        const own = turns()
        if (status !== "ok" || params.permutations !== 999) throw new Error(`the comparison is ${status}`)
        if (round < 0) continue
        cpu!.push((system + user) / 1_000)
        loop!.push(quantile(own, 0.99))
        whole!.push(wholeMs)
      }
      await governor.close()
      const line = (name: string, values: ReadonlyArray<number>, unit: string, goal: number | null): Line => ({
        name,
        value: figure(median(values)),
        unit,
        ...absolute,
        goal: goal === null ? "none" : `< ${goal} ${unit}`,
        met: goal === null || median(values) < goal
      })
      return [
        line("behavior.change", cpu!, "ms of processor time", GOAL_MS),
        line("behavior.loop_p99", loop!, "ms", GOAL_LOOP_MS),
        line("behavior.answer", whole!, "ms", null)
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * Measures what a timer of 1 ms would wait for this thread's own work, whatever other work the machine has: processor
 * time of the thread between two ticks. A long turn counts once for each tick that it misses. Unit: milliseconds.
 */
const watchTurns = (): (() => ReadonlyArray<number>) => {
  const ownMs: Array<number> = []
  const used = (): number => {
    // Brings the thread's time up to date.
    process.cpuUsage()
    const { system, user } = process.threadCpuUsage()
    return (system + user) / 1_000
  }
  let before = used()
  let timer = setTimeout(function tick() {
    for (let left = used() - before; left >= 0; left -= 1) ownMs.push(left)
    before = used()
    timer = setTimeout(tick, 1)
  }, 1)
  return () => {
    clearTimeout(timer)
    return ownMs
  }
}

/** Fills the store, and answers the agent that is compared. */
const fill = async (governor: Governor, say: (text: string) => void): Promise<string> => {
  const register = async (name: string) => (await governor.agents.register({ name, org_unit: "bench" })).agent.id
  const [agent, other] = [await register("compared"), await register("another")]
  say(`${STORE} decisions …`)
  let batches = 0
  let runs = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (batches < STORE / BATCH) {
        const batch = batches++
        await governor.witness(other, decisionsFrom(batch * BATCH, BATCH))
        for (; runs < ((batch + 1) * BATCH * RUNS) / STORE;) {
          const run = runs++
          const { receipts } = await governor.witness(
            agent,
            Array.from({ length: 10 }, (_, step) => ({
              ...decisionAt(run * 13 + step),
              client_ref: `compared-${run}/${step}`,
              run_id: `compared-${run}`,
              status: "intended"
            }))
          )
          for (const { decision_id } of receipts)
            await governor.settle(decision_id, { status: "ok", latency_ms: 20 + ((run * 7) % 90) })
        }
      }
    })
  )
  return agent
}
