/** Runs the client in workerd, the runtime of Cloudflare's workers, as a worker's author would bundle it. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import type { Sender } from "../../property-tests/src/client/readme-program.ts"
import type { ReadmeServer } from "./try-client.ts"

/** The needs of a trial: the repository, an installed client, and the programs of the tools' folder. */
export interface WorkerTrial {
  readonly root: string
  readonly folder: string
  readonly esbuild: string
  readonly workerd: string
  readonly server: ReadmeServer
}

/** Behaviour of the runtime as of this day; later changes are not of its version. */
const COMPATIBILITY_DATE = "2026-11-01"

/** The workers: what docs/client.md shows, and one that does everything that an agent does. */
const WORKERS = ["page", "everything"] as const

/** The program of a worker that the page for operators shows. */
const pageProgram = (root: string): string => {
  const [, program] = /^```ts\n([\s\S]*?export default[\s\S]*?)^```/m.exec(
    readFileSync(join(root, "docs/client.md"), "utf8")
  )!
  return program!
}

/**
 * Registers, witnesses, asks, is allowed and denied, waits for a person, and is halted. Only loopback is reachable.
 * Fails: rejects with the first thing that is not as expected.
 */
export const tryWorker = async (trial: WorkerTrial): Promise<void> => {
  const { folder, root, server } = trial
  writeFileSync(join(folder, "page.ts"), pageProgram(root))
  writeFileSync(join(folder, "everything.ts"), readFileSync(join(root, "scripts/publish/worker-program.ts"), "utf8"))
  for (const worker of WORKERS) {
    const flags = ["--bundle", "--format=esm", "--platform=neutral", "--target=es2023", "--log-level=warning"]
    run(trial.esbuild, [`${worker}.ts`, ...flags, `--outfile=worker-${worker}.js`], folder)
  }
  writeFileSync(join(folder, "workerd.capnp"), configuration(server.environment))
  const running = await startWorkerd(trial.workerd, folder)
  const admin = await server.senderOf("admin", "ann")
  try {
    await tryPage(await running.addressOf("page"))
    await tryEverything(await running.addressOf("everything"), server, admin)
  } finally {
    await running.stop()
  }
}

const tryPage = async (address: string): Promise<void> => {
  const refund = async (cents: number) => {
    const response = await fetch(`${address}/?cents=${cents}`)
    return `${response.status} ${await response.text()}`
  }
  expectEqual(await refund(2_500), "200 refunded 2500", "the page's worker, a small refund")
  const denied = "403 The action refund did not run: deny by @default."
  expectEqual(await refund(90_000), denied, "the page's worker, a large one")
}

const tryEverything = async (address: string, server: ReadmeServer, admin: Sender): Promise<void> => {
  const act = async (path: string, query: { readonly [name: string]: string | number } = {}) => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const response = await fetch(`${address}${path}?${text}`)
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { readonly answer: any; readonly flushed: object; readonly problems: object }
  }
  const expectAct = async (expected: unknown, path: string, query = {}, accepted = 1): Promise<any> => {
    const { answer, flushed, problems } = await act(path, query)
    const found = typeof answer === "object" && answer !== null ? `${answer.outcome} ${answer.rule}` : answer
    const all = [found, flushed, problems]
    expectEqual(all, [expected, { accepted, pending: 0, rejected: 0 }, []], `${path} ${JSON.stringify(query)}`)
    return answer
  }
  const { answer: agentId } = await act("/register")
  await prepare(admin, await server.senderOf("governor", "ben"), agentId)
  await expectAct(null, "/note")
  await expectAct("allow_with_notice", "/evaluate", { cents: 100 }, 0)
  await expectAct("refunded 100", "/refund", { cents: 100 })
  await expectAct("deny @default", "/refund", { cents: 900_000 })

  const { review } = await expectAct("require_review medium", "/refund", { cents: 20_000 })
  const waiting = expectAct("resolved approve", "/wait", { review }, 0)
  const reviewer = await server.senderOf("reviewer", "eve")
  await reviewer("POST", `/bound/reviews/${review}/resolve`, { resolution: "approve" })
  await waiting
  await expectAct("refunded 20000", "/refund", { cents: 20_000, review })

  const started = await listenOnce()
  const halting = act("/until-halted", { cents: 100, started: started.address })
  await started.called
  const halt = { target_type: "agent", target_id: agentId, reason: "trial" }
  const { activation_event: activation } = await admin("POST", "/bound/kill/activate", halt)
  const halted = await halting
  if (!/^The agent was halted at epoch \d+/.test(String(halted.answer))) throw new Error(JSON.stringify(halted))
  await expectAct("halt @killed", "/refund", { cents: 100 })
  await admin("POST", "/bound/kill/release", { activation_event: activation, reason: "trial" })
  await expectAct("refunded 100", "/refund", { cents: 100 })

  const decisions = (await admin("GET", `/agents/${agentId}/decisions`)) as unknown as ReadonlyArray<{
    readonly status: string
  }>
  expectEqual(
    decisions.map(({ status }) => status).toReversed(),
    ["ok", "ok", "denied", "denied", "ok", "ok", "denied", "ok"],
    "the record"
  )
}

/** Activates the agent under an envelope that allows, asks a person and denies. */
const prepare = async (admin: Sender, governor: Sender, agentId: string): Promise<void> => {
  const envelope = await admin("POST", "/bound/envelopes", {
    name: "Refunds of the worker",
    agent_id: agentId,
    envelope: {
      semantics: "envelope/1",
      signals: {
        tool: { type: "enum", values: ["refund"], source: "caller" },
        cents: { type: "int", unit: "EUR/100", min: 0, max: 1_000_000, source: "caller" }
      },
      effects: { refund: "write_reversible" },
      rules: [
        { id: "small", outcome: "allow", when: [{ signal: "cents", lte: 5_000 }] },
        { id: "medium", outcome: "require_review", when: [{ signal: "cents", between: [5_001, 50_000] }] }
      ],
      default: { outcome: "deny" }
    }
  })
  await governor("POST", `/bound/envelopes/${String(envelope["id"])}/publish`, {})
  await admin("PATCH", `/agents/${agentId}`, { autonomy_tier: "L2" })
  await admin("POST", `/agents/${agentId}/activate`, {})
}

/** Configuration of workerd: the workers, and a network of loopback alone. */
const configuration = (environment: { readonly [name: string]: string }): string => {
  const bindings = Object.entries(environment).map(([name, value]) => `(name = "${name}", text = "${value}")`)
  const workers = WORKERS.map(
    (name) => `    (name = "${name}", worker = (
      modules = [ (name = "worker", esModule = embed "worker-${name}.js") ],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      bindings = [ ${bindings.join(", ")} ]
    )),`
  )
  const sockets = WORKERS.map((name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
${workers.join("\n")}
    (name = "internet", network = (allow = ["local"]))
  ],
  sockets = [ ${sockets.join(", ")} ]
);
`
}

/** Starts workerd; it says on a pipe at which ports it listens. */
const startWorkerd = async (workerd: string, folder: string) => {
  const child = spawn(workerd, ["serve", "workerd.capnp", "--control-fd=3"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit", "pipe"]
  })
  const ended = once(child, "close")
  let said = ""
  const control = child.stdio[3]!
  const portOf = (socket: string): string | undefined =>
    new RegExp(`"socket":"${socket}","port":(\\d+)`).exec(said)?.[1]
  const heard = new Promise<void>((resolve, reject) => {
    control.on("data", (chunk) => {
      said += String(chunk)
      if (WORKERS.every((worker) => portOf(worker) !== undefined)) resolve()
    })
    ended.then(([status]) => reject(new Error(`workerd ended with ${String(status)} before it listened.`)), reject)
  })
  return {
    addressOf: async (socket: string): Promise<string> => {
      await heard
      return `http://127.0.0.1:${portOf(socket)}`
    },
    stop: async (): Promise<void> => {
      child.kill("SIGTERM")
      await ended
    }
  }
}

/** A server that is called once. */
const listenOnce = async () => {
  const server = createServer((_, response) => response.end())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  const called = once(server, "request").then(() => void server.close())
  return { address: `http://127.0.0.1:${port}`, called }
}

const run = (program: string, args: ReadonlyArray<string>, cwd: string): void => {
  const { error, status, stderr, stdout } = spawnSync(program, args, { cwd, encoding: "utf8" })
  if (error !== undefined || status !== 0) throw new Error(`${program}: ${error?.message ?? `${stdout}${stderr}`}`)
}

const expectEqual = (found: unknown, expected: unknown, what: string): void => {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}.`)
}
