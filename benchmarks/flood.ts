/** Acts of people and requests of other keys while one key, or ten, send capture without a pause. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { decisionAt } from "./decisions.ts"
import type { Flood, Flooded } from "./flood-load.ts"
import { absolute, type Benchmark, figure, type Line, quantile } from "./harness.ts"
import { type Enrolled, file, startFlyball } from "./server-process.ts"

/** How long each flood runs before anything is measured, and while it is: p99 of 200 evaluations is not their worst. */
const WARM_UP_MS = 4_000
const MEASURED_MS = 40_000
const FLOODS = [
  { connections: 40, keys: 1 },
  { connections: 100, keys: 1 },
  { connections: 40, keys: 10 },
  { connections: 100, keys: 10 }
]

type Probe = "halt_flooder" | "halt_other" | "release" | "evaluation" | "capture"
type Times = Record<Probe, Array<number>>
type Server = Awaited<ReturnType<typeof startFlyball>>

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "flood",
  about:
    `a server on SQLite and on Postgres for ${MEASURED_MS / 1_000} s each while ` +
    `${FLOODS.map(({ connections, keys }) => `${connections} connections of ${keys} keys`).join(", ")} ` +
    "send batches of 1,000 decisions",
  run: async (say) => {
    const postgres = await startPostgres()
    const lines: Array<Line> = []
    try {
      for (const backend of ["sqlite", "postgres"] as const)
        for (const flood of FLOODS) {
          const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
          const server = await startFlyball(
            folder,
            backend === "sqlite" ? undefined : (await freshDatabase(postgres.url)).url
          )
          try {
            lines.push(...(await floodedBy(`flood.${backend}.${flood.connections}x${flood.keys}`, server, flood, say)))
          } finally {
            await server.server.stop()
            rmSync(folder, { recursive: true, force: true })
          }
        }
    } finally {
      await postgres.stop()
    }
    return lines
  }
}

const floodedBy = async (
  name: string,
  server: Server,
  { connections, keys }: (typeof FLOODS)[number],
  say: (text: string) => void
): Promise<ReadonlyArray<Line>> => {
  const flooders: Array<Enrolled> = []
  while (flooders.length < keys) flooders.push(await server.enrol(`flooder ${flooders.length}`))
  const flood: Flood = {
    port: server.server.port,
    connections,
    of: flooders.map(({ agent, key }) => ({ agentId: agent.id, key }))
  }
  const load = spawn(process.execPath, [file("./flood-load.ts"), JSON.stringify(flood)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const printed = createInterface(load.stdout)[Symbol.asyncIterator]()
  await printed.next()
  await probing(server, flooders[0]!, WARM_UP_MS)
  const times = await probing(server, flooders[0]!, MEASURED_MS)
  load.stdin.end()
  const { decisions, ms, refused } = JSON.parse((await printed.next()).value ?? "{}") as Flooded
  const isPostgres = name.includes("postgres")
  const lines = (Object.keys(times) as ReadonlyArray<Probe>).map((probe): Line => {
    const values = times[probe]
    const goal = probe === "capture" ? 1_000 : isPostgres ? 350 : 250
    const p99 = quantile(values, 0.99)
    say(`${name}.${probe}: p50 ${figure(quantile(values, 0.5))} ms of ${values.length}`)
    return {
      name: `${name}.${probe}`,
      value: figure(p99),
      unit: "ms, p99",
      ...absolute,
      goal: `< ${goal} ms`,
      met: p99 < goal
    }
  })
  say(`${name}: ${refused} batches refused`)
  const throughput = figure((decisions / ms) * 1_000)
  return [
    ...lines,
    {
      name: `${name}.accepted`,
      value: throughput,
      unit: "decisions/s",
      ...absolute,
      goal: "none",
      met: true
    }
  ]
}

/** Sends every probe again and again, each in a loop of its own. */
const probing = async ({ agent, key, server, token }: Server, flooder: Enrolled, forMs: number): Promise<Times> => {
  const times: Times = { halt_flooder: [], halt_other: [], release: [], evaluation: [], capture: [] }
  const untilMs = performance.now() + forMs
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const timed = async (probe: Probe, path: string, bearer: string, body: unknown): Promise<any> => {
    const startedMs = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const answer = await response.text()
    times[probe].push(performance.now() - startedMs)
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${answer}`)
    return JSON.parse(answer)
  }
  const repeat = async (pauseMs: number, act: (nth: number) => Promise<unknown>): Promise<void> => {
    for (let nth = 0; performance.now() < untilMs; nth++) {
      await act(nth)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  const refOf = (nth: number): string => `probe-${Math.floor(untilMs)}-${nth}`
  const evaluation = { agent_id: agent.id, action: "read", signals: {} }
  const [targets, reason] = [[flooder.agent.id, agent.id], "A benchmark."]
  await Promise.all([
    repeat(250, async (nth) => {
      const activation = { target_type: "agent", target_id: targets[nth % 2], response: "halt", reason }
      const { activation_event } = await timed(
        nth % 2 === 0 ? "halt_flooder" : "halt_other",
        "/bound/kill/activate",
        token,
        activation
      )
      await timed("release", "/bound/kill/release", token, { activation_event, reason })
    }),
    repeat(100, (nth) => timed("evaluation", "/bound/evaluations", key, { ...evaluation, client_ref: refOf(nth) })),
    repeat(100, (nth) =>
      timed("capture", `/agents/${agent.id}/decisions`, key, {
        ...decisionAt(0),
        client_ref: refOf(nth)
      })
    )
  ])
  return times
}
