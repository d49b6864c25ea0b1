/**
 * Evaluations over HTTP, durable and metered, against bare node:http with as many inserts and against the POST of a
 * decision: requests a second of processor time, and how long each takes.
 */
import { execFile } from "node:child_process"
import { Agent, request } from "node:http"
import { promisify } from "node:util"
import { refunds } from "../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { decisionAt } from "./decisions.ts"
import { type Benchmark, figure, type Line, median, quantile } from "./harness.ts"
import { besideBare, processorMs, release } from "./server-process.ts"

/**
 * Callers at a time, and requests a round: enough for the clock of processor time, which ticks in hundredths of a
 * second.
 */
const LOADS = [
  { callers: 1, requests: 300 },
  { callers: 50, requests: 2_000 }
] as const
const ROUNDS = 5
const run = promisify(execFile)

const rules = refunds({}, 1_000_000_000)["rules"] as ReadonlyArray<{ readonly obligations?: unknown }>

/**
 * One window that every request of the agent reads and adds to, with a cap that is never reached. Without the
 * obligation of its review, whose role a server does not give.
 */
const envelope = refunds({ rules: rules.map(({ obligations: _, ...rule }) => rule) }, 1_000_000_000)

interface Subject {
  readonly name: "bare" | "decision" | "evaluation"
  readonly pid: number
  readonly port: number
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: (number: number) => unknown
}

interface Round {
  readonly processorMs: number
  readonly latenciesMs: ReadonlyArray<number>
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "evaluations",
  about:
    "POST of an evaluation under a metered envelope, one agent and one window, " +
    `${LOADS.map(({ callers }) => callers).join(" and ")} callers, ${ROUNDS} rounds in turn with POST of ` +
    "a decision and with bare node:http, each durable",
  run: async () => {
    if (process.platform !== "linux") throw new Error("this benchmark reads /proc, so it runs on Linux only")
    return besideBare("./bare-http.ts", async ({ agent, bare, folder, key, server }) => {
      await govern(folder, server.port, agent.id)
      const headers = { authorization: `Bearer ${key}` }
      const subjects: ReadonlyArray<Subject> = [
        {
          name: "bare",
          pid: bare.pid,
          port: bare.port,
          path: "/agent",
          headers,
          body: (number) => ({ name: `r${number}`, ...evaluation(agent.id, number) })
        },
        {
          name: "decision",
          pid: server.pid,
          port: server.port,
          path: `/api/v1/agents/${agent.id}/decisions`,
          headers,
          body: (number) => decisionAt(number)
        },
        {
          name: "evaluation",
          pid: server.pid,
          port: server.port,
          path: "/api/v1/bound/evaluations",
          headers,
          body: (number) => evaluation(agent.id, number)
        }
      ]
      const lines: Array<Line> = []
      for (const load of LOADS) lines.push(...linesOf(load, await roundsInTurn(subjects, load)))
      return lines
    })
  }
}

const evaluation = (agentId: string, number: number) => ({
  agent_id: agentId,
  client_ref: `run-${String(Math.floor(number / 10)).padStart(9, "0")}/${number % 10}`,
  action: "issue_refund",
  run_id: `run-${Math.floor(number / 10)}`,
  signals: { tool: "refund", amount: 1 + (number % 7) }
})

/** An active agent with the envelope in force: drafted by one governor, published by another. */
const govern = async (folder: string, port: number, agentId: string): Promise<void> => {
  const environment = { ...process.env, FLYBALL_DATA_DIR: folder, FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db` }
  const token = async (subject: string): Promise<string> =>
    (await run(release("flyball"), ["token", "--role", "admin", "--sub", subject], { env: environment })).stdout.trim()
  const call = async (
    method: string,
    path: string,
    bearer: string,
    body: unknown
  ): Promise<{ readonly id: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as { readonly id: string }
  }
  const [author, second] = [await token("author"), await token("second")]
  const { id } = await call("POST", "/bound/envelopes", author, { name: "Refunds", agent_id: agentId, envelope })
  await call("POST", `/bound/envelopes/${id}/publish`, second, {})
  await call("PATCH", `/agents/${agentId}`, author, { autonomy_tier: "L2" })
  await call("POST", `/agents/${agentId}/transfer-ownership`, author, {
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  await call("POST", `/agents/${agentId}/activate`, author, {})
}

/** Rounds of all subjects, each time in another order, after one to warm up. */
const roundsInTurn = async (
  subjects: ReadonlyArray<Subject>,
  { callers, requests }: (typeof LOADS)[number]
): Promise<ReadonlyMap<Subject["name"], ReadonlyArray<Round>>> => {
  const rounds = new Map(subjects.map(({ name }) => [name, new Array<Round>()]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const subject of subjects.toSpliced(0, 0, ...subjects).slice((round + 3) % 3, ((round + 3) % 3) + 3)) {
      const measured = await roundOf(subject, callers, requests)
      if (round >= 0) rounds.get(subject.name)!.push(measured)
    }
  }
  return rounds
}

let number = 0

const roundOf = async (
  { body, headers, path, pid, port }: Subject,
  callers: number,
  requests: number
): Promise<Round> => {
  const bodies = Array.from({ length: requests }, () => Buffer.from(JSON.stringify(body(number++))))
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const latenciesMs: Array<number> = []
  const before = processorMs(pid)
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let next = bodies.pop(); next !== undefined; next = bodies.pop()) {
        const startedAt = performance.now()
        await post(agent, port, path, headers, next)
        latenciesMs.push(performance.now() - startedAt)
      }
    })
  )
  agent.destroy()
  return { processorMs: processorMs(pid) - before, latenciesMs }
}

const post = (agent: Agent, port: number, path: string, headers: Subject["headers"], body: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "content-length": body.length }
      },
      (response) => {
        response.resume()
        response.once("end", () =>
          response.statusCode! < 300 ? resolve() : reject(new Error(`${path} answered ${response.statusCode}`))
        )
      }
    )
    sent.once("error", reject)
    sent.end(body)
  })

const linesOf = (
  { callers, requests }: (typeof LOADS)[number],
  rounds: ReadonlyMap<Subject["name"], ReadonlyArray<Round>>
): ReadonlyArray<Line> => {
  const of = (name: Subject["name"]): ReadonlyArray<Round> => rounds.get(name)!
  const rate = (name: Subject["name"]): number =>
    figure((requests / median(of(name).map(({ processorMs }) => processorMs))) * 1_000)
  const against = (name: Subject["name"]): number =>
    figure(median(of(name).map(({ processorMs }, round) => processorMs / of("evaluation")[round]!.processorMs)))
  const latency = (name: Subject["name"], share: number): number =>
    figure(
      quantile(
        of(name).flatMap(({ latenciesMs }) => latenciesMs),
        share
      )
    )
  const about = `${callers} caller${callers === 1 ? "" : "s"}`
  const measured = { goal: "measured, no goal", met: true }
  return [
    ...(["bare", "decision"] as const).map((other): Line => ({
      name: `evaluations over HTTP, ${about}, beside ${other === "bare" ? "bare node:http" : "POST of a decision"}`,
      value: rate("evaluation"),
      unit: "requests/s of processor time",
      limit: rate(other),
      ratio: against(other),
      ...measured
    })),
    ...(
      [
        ["p50", 0.5],
        ["p99", 0.99]
      ] as const
    ).map(([name, share]): Line => ({
      name: `one evaluation over HTTP, ${about}, ${name}, beside POST of a decision`,
      value: latency("evaluation", share),
      unit: "ms",
      limit: latency("decision", share),
      ratio: figure(latency("decision", share) / latency("evaluation", share)),
      ...measured
    }))
  ]
}
