/**
 * Breakers of a whole deployment: one check of them all, and what they add to a commit, at two lengths of the chain.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Governor, openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { decisionsFrom } from "./decisions.ts"
import { absolute, type Benchmark, figure, type Line, median, timed } from "./harness.ts"

const AGENTS = 1_000
const LENGTHS = [100_000, 1_000_000] as const
const BATCH = 1_000
const CALLERS = 4
const CHECKS = 7
/** Commits of one decision each, in one round. */
const COMMITS = 1_000
const COMMIT_ROUNDS = 5
const GOAL_MS = 1_000
/** Windows that hold the whole chain: the worst case. */
const window_ms = 86_400_000

const breakers = [
  { name: "errors", metric: "error_rate", params: { window_ms, threshold_bp: 10_000, min_samples: 1_000_000 } },
  { name: "pace", metric: "action_velocity", params: { window_ms, max_count: 1_000_000_000 } },
  { name: "streak", metric: "consecutive_failures", params: { window_ms, max_count: 1_000_000 } }
] as const

/** Figures at one length of the chain. Unit: milliseconds, and microseconds of processor time a commit. */
interface Measured {
  readonly checkMs: number
  readonly commitUs: number
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "breakers",
  about:
    `${AGENTS} agents with ${breakers.length} breakers each on SQLite, over chains of ` +
    `${LENGTHS.map((length) => length.toLocaleString("en")).join(" and ")} decisions that all lie in their windows: ` +
    `the median of ${CHECKS} checks of all, and processor time of a commit of one decision, its breakers read after ` +
    "it; and the first check of a process that starts",
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const open = (): Promise<Governor> =>
      openGovernor({
        storage: sqliteStorage({ file: join(folder, "breakers.db") }),
        keys: dataFolder({ dir: join(folder, "keys"), origin: "flyball.example/bench" })
      })
    try {
      const governor = await open()
      const agents: Array<string> = []
      for (let index = 0; index < AGENTS; index++) {
        const { agent } = await governor.agents.register({ name: `bench ${index}`, org_unit: "bench" })
        agents.push(agent.id)
        for (const breaker of breakers) await governor.breakers.arm(agent.id, breaker)
      }
      let made = 0
      const grow = async (length: number): Promise<void> => {
        say(`${length} decisions …`)
        await Promise.all(
          Array.from({ length: CALLERS }, async () => {
            while (made < length) {
              const from = made
              made += BATCH
              await governor.witness(agents[Math.floor(from / BATCH) % AGENTS]!, decisionsFrom(from, BATCH))
            }
          })
        )
      }
      const found: Array<Measured> = []
      for (const length of LENGTHS) {
        await grow(length)
        found.push(await measure(governor, agents, () => made++))
      }
      await governor.close()
      const again = await open()
      const coldMs = await timed(() => again.breakers.check())
      await again.close()
      return linesOf(found, coldMs)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const measure = async (governor: Governor, agents: ReadonlyArray<string>, next: () => number): Promise<Measured> => {
  // The first reads the windows that no commit has read yet.
  const rows = await governor.breakers.check()
  if (rows.length !== AGENTS * breakers.length) throw new Error(`${rows.length} breakers were read`)
  const checks: Array<number> = []
  for (let count = 0; count < CHECKS; count++) checks.push(await timed(() => governor.breakers.check()))
  const commits: Array<number> = []
  for (let round = -1; round < COMMIT_ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let count = 0; count < COMMITS; count++) {
      const number = next()
      await governor.witness(agents[number % AGENTS]!, decisionsFrom(number, 1))
    }
    const { system, user } = process.cpuUsage(before)
    if (round >= 0) commits.push((system + user) / COMMITS)
  }
  return { checkMs: median(checks), commitUs: median(commits) }
}

const linesOf = ([short, long]: ReadonlyArray<Measured>, coldMs: number): ReadonlyArray<Line> => [
  {
    name: "breakers.check",
    value: figure(long!.checkMs),
    unit: "ms",
    limit: figure(short!.checkMs),
    ratio: figure(short!.checkMs / long!.checkMs),
    goal: `< ${GOAL_MS} ms`,
    met: long!.checkMs < GOAL_MS
  },
  {
    name: "breakers.commit",
    value: figure(long!.commitUs),
    unit: "us of processor time a commit",
    limit: figure(short!.commitUs),
    ratio: figure(short!.commitUs / long!.commitUs),
    goal: "ratio >= 0.85",
    met: short!.commitUs / long!.commitUs >= 0.85
  },
  {
    name: "breakers.first_check",
    value: figure(coldMs),
    unit: "ms",
    ...absolute,
    goal: "none",
    met: true
  }
]
