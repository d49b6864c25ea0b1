/**
 * Kills a process at each commit of an execution (an agent's call, an approval, another call), lets another process go
 * on, and says what each kill left.
 */
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { openGovernor, systemHost, Agents, Envelopes, governorLayer, keysLayerOf, layerOf } from "@flyball/core"
import { dataFolder, webhookSender } from "@flyball/node"
import { shiftPostgresClock } from "../../../packages/storage-sql/src/postgres/test-clock.ts"
import { Effect, Layer } from "effect"
import { platform } from "../../../packages/platform/src/index.ts"
import { Workflows } from "../../../packages/platform/src/workflows/service.ts"
import { statementsIn } from "../crash/killing-storage.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { ENVELOPE, UNIT } from "./crash-world.ts"
import type { CrashingRun } from "./crashing-run.ts"

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** One kill: where, and what it left. */
export interface RunCrash {
  readonly statement: string
  readonly moment: string
  /** The status of the execution as the killed process left it; `nothing` where it was not started. */
  readonly left: string
  /** How it ended; null where it was not started. */
  readonly ended: string | null
  /** How often each agent was called. The second call of one key is known to its agent. */
  readonly calls: ReadonlyArray<readonly [step: string, times: number]>
}

/** Options of {@link runCrashes}. */
export interface RunCrashing {
  readonly at: StoreAt
  readonly dir: string
  readonly moments: (statement: string) => ReadonlyArray<string>
}

/** Longer than a killed process holds what it had taken up. Unit: milliseconds. */
const LATER_MS = 30_000

/** Agents of all steps: what came, by the key of its request. */
const agentsProgram = async () => {
  const got = new Map<string, { readonly step: string; readonly order: string; times: number }>()
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk) => (text += String(chunk)))
    request.on("end", () => {
      const key = String(request.headers["idempotency-key"])
      const known = got.get(key)
      if (known === undefined) got.set(key, { step: request.url!.slice(1), order: JSON.parse(text).order, times: 1 })
      else known.times += 1
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
  }
}

const ben = { id: `usr_${"0".repeat(25)}2` }

/** An active agent, and a workflow of two calls with an approval between them; its id. */
const prepared = ({ at: place, dir }: RunCrashing, url: string): Promise<string> => {
  const layer = governorLayer({ capabilities: [platform()] }).pipe(
    Layer.provideMerge(layerOf(storageAt(place))),
    Layer.provide(webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true })),
    Layer.provide(keysLayerOf(dataFolder({ dir })))
  ) as Layer.Layer<Agents | Envelopes | Workflows, unknown>
  return Effect.gen(function* () {
    const [agents, envelopes, workflows] = [yield* Agents, yield* Envelopes, yield* Workflows]
    const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
    const { agent } = yield* agents.register({ name: "clerk", org_unit: UNIT, ...owner }, systemHost)
    const made = yield* envelopes.create({ name: "calls", agent_id: agent.id, envelope: ENVELOPE }, systemHost)
    yield* envelopes.publish(made.id, {}, ben)
    yield* agents.update(agent.id, { autonomy_tier: "L2" }, ben)
    yield* agents.activate(agent.id, ben)
    const call = (id: string) => ({
      id,
      type: "agent" as const,
      agent: agent.id,
      signals: { amount: 1 },
      timeout_ms: 1_000,
      retries: 5,
      request: { url: `${url}/${id}`, method: "POST" as const, body: { order: "{{inputs.order}}" } }
    })
    const steps = [call("first"), { id: "ok", type: "approval" as const, title: "Go on?" }, call("last")]
    return (yield* workflows.create(UNIT, { name: "two calls", steps }, systemHost)).id
  }).pipe(Effect.provide(layer), Effect.runPromise)
}

/** Runs a process to its end; what it wrote. */
const runProcess = (run: CrashingRun, laterMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ["--import", at("../crash/later.mjs"), at("crashing-run.ts"), JSON.stringify(run)],
      {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, FLYBALL_TEST_LATER_MS: String(laterMs) }
      }
    )
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    child.on("close", (status, signal) =>
      signal === "SIGKILL" || status === 0 ? resolve(text) : reject(new Error(`A process ended with ${status}.`))
    )
  })

const wordAfter = (text: string, word: string): string | null =>
  new RegExp(`^${word} (.*)$`, "m").exec(text)?.[1] ?? null

/** Kills a process at each commit. Throws where a step ran twice for its agent, or an execution is lost. */
export const runCrashes = async (of: RunCrashing): Promise<ReadonlyArray<RunCrash>> => {
  const agents = await agentsProgram()
  try {
    const workflowId = await prepared(of, agents.url)
    const clock = "postgres" in of.at ? await shiftPostgresClock(of.at.postgres) : null
    let laterMs = 0
    const pass = async (): Promise<void> => {
      if (clock === null) laterMs += LATER_MS
      else await clock.shift(LATER_MS)
    }
    const run = (is: CrashingRun["is"], order: string, statement: string, moment: string) =>
      runProcess({ at: of.at, dir: of.dir, is, workflowId, order, statement, moment }, laterMs)
    const statements = statementsIn(await run("live", "never", "", ""))
    const found: Array<RunCrash> = []
    for (const [index, statement] of statements.entries()) {
      for (const moment of of.moments(statement)) {
        const order = `${index} ${moment}`
        const lived = await run("live", order, statement, moment)
        await pass()
        const rest = await run("rest", order, "", "")
        const [left, ended] = [wordAfter(rest, "left") ?? "?", wordAfter(rest, "ended")]
        const calls = [...agents.got.values()].filter((one) => one.order === order)
        const crash: RunCrash = { statement, moment, left, ended, calls: calls.map(({ step, times }) => [step, times]) }
        const isWhole = calls.length === 2 && ended === "completed"
        const isNothing = calls.length === 0 && left === "nothing"
        // The number of a statement differs where the engine polled once more or less: then nobody was killed.
        const wasKilled = wordAfter(lived, "ended") === null
        if (!isWhole && !(wasKilled && isNothing)) throw new Error(JSON.stringify({ order, wasKilled, ...crash }))
        if (wasKilled) found.push(crash)
      }
    }
    return found
  } finally {
    await agents.close()
  }
}

/** The differences that replay finds in the store. */
export const differencesIn = async ({ at: place, dir }: RunCrashing): Promise<ReadonlyArray<unknown>> => {
  const governor = await openGovernor({
    storage: storageAt(place),
    keys: dataFolder({ dir }),
    log: () => undefined,
    channelCheckS: 0
  })
  try {
    return (await governor.check()).differences
  } finally {
    await governor.close()
  }
}
