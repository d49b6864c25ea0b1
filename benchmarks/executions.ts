/** Executions of workflows in this process: starts, an approval to the step behind it, and three steps. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { openFlows } from "../property-tests/src/workflows/flows.ts"
import type { StoreAt } from "../property-tests/src/crash/store-at.ts"
import { absolute, type Benchmark, figure, type Line, median, quantile } from "./harness.ts"

const STARTS = 2_000
const WARM_UP = 300
const AT_ONCE = 64
const APPROVALS = 300
const RUNS = 100
const GOALS = { sqlite: 300, postgres: 250 } as const
const [RESUME_GOAL_MS, STEPS_GOAL_MS] = [100, 15]

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "executions",
  about:
    `starts of executions by ${AT_ONCE} callers at once while the engine moves them on, from an approval to the ` +
    `request of the step behind it (${APPROVALS}, one after the other), and executions of three agents' steps ` +
    `(${RUNS}), all records sealed, agents behind loopback HTTP, on SQLite and on Postgres`,
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const postgres = await startPostgres()
    try {
      const { url } = await freshDatabase(postgres.url)
      return [
        ...(await measured("sqlite", { sqlite: join(folder, "store.db") }, join(folder, "sqlite"))),
        ...(await measured("postgres", { postgres: url }, join(folder, "postgres")))
      ]
    } finally {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const measured = async (backend: keyof typeof GOALS, at: StoreAt, dir: string): Promise<ReadonlyArray<Line>> => {
  const arrived = new Map<string, number>()
  const waiting = new Map<string, () => void>()
  const flows = await openFlows(at, dir, (key) => {
    arrived.set(key, performance.now())
    waiting.get(key)?.()
  })
  const called = (key: string): Promise<void> =>
    arrived.has(key) ? Promise.resolve() : new Promise((resolve) => waiting.set(key, resolve))
  try {
    const asks = await flows.workflow([flows.ask])
    const load = async (count: number): Promise<number> => {
      const startedAt = performance.now()
      let next = 0
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next++ < count) await flows.start(asks)
        })
      )
      return (count / (performance.now() - startedAt)) * 1_000
    }
    await load(WARM_UP)
    const starts = await load(STARTS)

    const asksFirst = await flows.workflow([flows.ask, flows.call("pay")])
    const resumed: Array<number> = []
    for (let round = 0; round < APPROVALS; round++) {
      const id = await flows.start(asksFirst)
      const { waiting: shown } = await untilShown(
        () => flows.get(id),
        (one) => one.waiting !== undefined
      )
      const startedAt = performance.now()
      await flows.decide(id, shown!.id, true)
      await called(`${id}:pay`)
      resumed.push(arrived.get(`${id}:pay`)! - startedAt)
    }

    const three = await flows.workflow(["one", "two", "three"].map(flows.call))
    const steps: Array<number> = []
    for (let round = 0; round < RUNS; round++) {
      const startedAt = performance.now()
      const id = await flows.start(three)
      await called(`${id}:three`)
      await untilShown(
        () => flows.get(id),
        ({ status }) => status === "completed"
      )
      steps.push(performance.now() - startedAt)
    }
    const [resume, whole] = [quantile(resumed, 0.99), median(steps)]
    const line = (name: string, value: number, unit: string, goal: string, met: boolean): Line => ({
      name: `executions.${backend}.${name}`,
      value: figure(value),
      unit,
      ...absolute,
      goal,
      met
    })
    return [
      line("starts", starts, "starts/s", `at least ${GOALS[backend]}`, starts >= GOALS[backend]),
      line("resumed", resume, "ms, p99", `under ${RESUME_GOAL_MS} ms`, resume < RESUME_GOAL_MS),
      line("three_steps", whole, "ms from start to end, p50", `under ${STEPS_GOAL_MS} ms`, whole < STEPS_GOAL_MS)
    ]
  } finally {
    await flows.close()
  }
}

/** Reads until it is there, without a pause: a millisecond counts here. */
const untilShown = async <A>(read: () => Promise<A>, isThere: (shown: A) => boolean): Promise<A> => {
  for (;;) {
    const shown = await read()
    if (isThere(shown)) return shown
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
