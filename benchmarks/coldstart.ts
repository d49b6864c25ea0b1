/**
 * From nothing to the first answer: real processes of the real programs, as an operator starts them. Design section 6.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { absolute, type Benchmark, figure, type Line, median, quantile } from "./harness.ts"
import { checkout, release } from "./server-process.ts"

const ROUNDS = 15
/** Compiling everything anew is slow and steady. */
const COLD_ROUNDS = 5
const FIRST_200_MS = 1_000
const VERSION_TIMES = 2

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const bin = (name: string): string => path(`../node_modules/.bin/${name}`)

const environmentOf = (folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  FLYBALL_DATA_DIR: folder,
  FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`,
  FLYBALL_PORT: "0",
  FLYBALL_DRAIN_MS: "0",
  FLYBALL_LOG_LEVEL: "silent"
})

/** Milliseconds until a command has ended. */
const ended = (command: string, args: ReadonlyArray<string>, environment = process.env): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    spawn(command, args, { stdio: "ignore", env: environment })
      .once("error", reject)
      .once("exit", (status) =>
        status === 0
          ? resolve(performance.now() - startedAt)
          : reject(new Error(`${command} ${args.join(" ")} ended with ${status}`))
      )
  })

/**
 * Milliseconds from the start of `flyball serve` to its first 200, and what it has in memory then. The server is
 * stopped in order.
 */
const first200 = async (flyball: string, folder: string, environment: NodeJS.ProcessEnv): Promise<number> => {
  const startedAt = performance.now()
  const server = spawn(flyball, ["serve"], {
    env: { ...environmentOf(folder), ...environment },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = new Promise((resolve) => server.once("exit", resolve))
  const port = await new Promise<number>((resolve, reject) => {
    let out = ""
    server.stdout.on("data", (chunk) => {
      const found = /:(\d+)\/?\n/.exec((out += String(chunk)))
      if (found !== null) resolve(Number(found[1]))
    })
    exited.then(() => reject(new Error("the server ended before it was ready")), reject)
  })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ host: "127.0.0.1", port, path: "/healthz", agent: false }, (response) =>
      resolve(response.resume().statusCode)
    )
      .once("error", reject)
      .end()
  })
  const tookMs = performance.now() - startedAt
  server.kill("SIGTERM")
  await exited
  if (status !== 200) throw new Error(`the first answer was ${status}`)
  return tookMs
}

const times = async (rounds: number, run: () => Promise<number>): Promise<ReadonlyArray<number>> => {
  const found: Array<number> = []
  for (let round = 0; round < rounds; round++) found.push(await run())
  return found
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "coldstart",
  about:
    "flyball serve until its first 200, and flyball-verify --version, as processes of their own, from a " +
    "release and from a checkout, against node -e 0",
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    let folders = 0
    const fresh = (): string => join(folder, `data-${folders++}`)
    try {
      // Without a cache Node compiles everything: as at the first start after an installation.
      const uncached = { NODE_DISABLE_COMPILE_CACHE: "1" }
      const existing = fresh()
      const [bundle, sources] = [release("flyball"), checkout("flyball")]
      for (const flyball of [bundle, sources]) await first200(flyball, existing, {})
      const served = (name: string, values: ReadonlyArray<number>): Line => ({
        name: `coldstart.serve.${name}`,
        value: figure(median(values)),
        unit: `ms (p95 ${figure(quantile(values, 0.95))})`,
        ...absolute,
        goal: `< ${FIRST_200_MS} ms`,
        met: median(values) < FIRST_200_MS
      })
      const lines = [
        served("existing_data", await times(ROUNDS, () => first200(bundle, existing, {}))),
        served("new_data", await times(ROUNDS, () => first200(bundle, fresh(), {}))),
        served("existing_data.no_compile_cache", await times(COLD_ROUNDS, () => first200(bundle, existing, uncached))),
        served("new_data.no_compile_cache", await times(COLD_ROUNDS, () => first200(bundle, fresh(), uncached))),
        served("sources", await times(ROUNDS, () => first200(sources, existing, {}))),
        served("sources.no_compile_cache", await times(COLD_ROUNDS, () => first200(sources, existing, uncached)))
      ]
      // In turn, so that a machine whose speed drifts flatters neither.
      const node = bin("node")
      const pairs: Array<readonly [number, number]> = []
      for (let round = 0; round < ROUNDS * 2; round++)
        pairs.push([await ended(node, ["-e", "0"]), await ended(release("flyball-verify"), ["--version"])])
      const [limits, subjects] = [pairs.map(([limit]) => limit), pairs.map(([, subject]) => subject)]
      const ratio = median(pairs.map(([limit, subject]) => limit / subject))
      say(
        `flyball-verify --version p95 ${figure(quantile(subjects, 0.95))} ms, node -e 0 p95 ` +
          `${figure(quantile(limits, 0.95))} ms`
      )
      return [
        ...lines,
        {
          name: "coldstart.verify_version",
          value: figure(median(subjects)),
          unit: "ms",
          limit: figure(median(limits)),
          ratio: figure(ratio),
          goal: `< ${VERSION_TIMES} times the limit`,
          met: 1 / ratio < VERSION_TIMES
        }
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
