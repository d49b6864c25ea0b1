/** Servers as processes of their own, and load on them from this one. */
import { spawn, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { processUs } from "./processor-time.ts"

/** Connections that a load holds open. */
export const CONNECTIONS = 64

/** A running server. */
export interface Running {
  readonly port: number
  readonly pid: number
  readonly stop: () => Promise<unknown>
}

/** A file beside the benchmarks. */
export const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The command that a checkout has: it runs the sources. */
export const checkout = (name: "flyball" | "flyball-verify"): string => file(`../node_modules/.bin/${name}`)

let releaseFolder: string | undefined

/**
 * The command of a release, as it is deployed: the bundle without sources, made from the sources as they are.
 *
 * - Fails: throws when the build fails.
 */
export const release = (name: "flyball" | "flyball-verify"): string =>
  join((releaseFolder ??= makeRelease()), "apps", name === "flyball" ? "server" : "verify", "bin", name)

const makeRelease = (): string => {
  const built = spawnSync(process.execPath, [file("../scripts/build/main.ts"), "--apps"], { encoding: "utf8" })
  if (built.status !== 0) throw new Error(`the programs cannot be built: ${built.stderr}`)
  const folder = mkdtempSync(join(tmpdir(), "flyball-release-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  for (const part of ["bin", "dist", "package.json"]) {
    for (const app of ["server", "verify"]) {
      cpSync(file(`../apps/${app}/${part}`), join(folder, "apps", app, part), { recursive: true })
    }
  }
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true })
  symlinkSync(process.execPath, join(folder, "node_modules", ".bin", "node"))
  return folder
}

/** Starts a program that prints its address when it is ready. */
export const start = async (
  command: string,
  args: ReadonlyArray<string>,
  environment: { readonly [name: string]: string }
): Promise<Running> => {
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] })
  const closed = new Promise((resolve) => child.once("close", resolve))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /:(\d+)\/?$/.exec(line)
      if (found !== null) resolve(Number(found[1]))
    })
    closed.then(() => reject(new Error("a server ended before it was ready")), reject)
  })
  return { port, pid: child.pid!, stop: () => (child.kill("SIGTERM"), closed) }
}

/** An ingest key, and an agent that it registered. */
export interface Enrolled {
  readonly key: string
  readonly agent: { readonly id: string }
}

/** `flyball serve` on a new SQLite file or another database, with an administrator's token, an ingest key, an agent. */
export const startFlyball = async (
  folder: string,
  databaseUrl = `sqlite:${folder}/flyball.db`,
  more: { readonly [name: string]: string } = {}
) => {
  const environment = {
    FLYBALL_DATA_DIR: folder,
    FLYBALL_DATABASE_URL: databaseUrl,
    FLYBALL_PORT: "0",
    FLYBALL_DRAIN_MS: "0",
    FLYBALL_LOG_LEVEL: "silent",
    ...more
  }
  const server = await start(release("flyball"), ["serve"], environment)
  const call = async (path: string, token: string, body: unknown): Promise<any> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return response.json()
  }
  const token = await new Promise<string>((resolve) => {
    const child = spawn(release("flyball"), ["token", "--role", "admin"], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "inherit"]
    })
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
  })
  const enrol = async (name: string): Promise<Enrolled> => {
    const { key } = await call("/api/v1/admin/ingest-keys", token, { name, org_unit: "bench" })
    return { key, agent: await call("/api/v1/agents", key, { name }) }
  }
  return { server, token, enrol, ...(await enrol("bench")) }
}

/** Processes compared in a benchmark: a governor's server, and bare `node:http` with the same inserts. */
export type Pair = Awaited<ReturnType<typeof startFlyball>> & { readonly folder: string; readonly bare: Running }

/** Runs both for as long as `use` takes, on files of their own that go afterwards. */
export const besideBare = async <A>(bareFile: string, use: (pair: Pair) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
  const subject = await startFlyball(folder)
  const bare = await start(process.execPath, [file(bareFile), join(folder, "bare.db")], {})
  try {
    return await use({ ...subject, folder, bare })
  } finally {
    await subject.server.stop()
    await bare.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One request. */
export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body: Uint8Array | null
  readonly headers?: { readonly [name: string]: string }
}

const send = (
  agent: Agent,
  port: number,
  headers: { readonly [name: string]: string },
  { body, headers: own, method, path }: Request,
  expects: number | null
): Promise<void> =>
  new Promise((resolve, reject) => {
    const content = body === null ? {} : { "content-type": "application/json", "content-length": body.length }
    const sent = request(
      { agent, host: "127.0.0.1", port, path, method, headers: { ...headers, ...own, ...content } },
      (response) => {
        response.resume()
        response.once("end", () =>
          (expects === null ? response.statusCode! < 300 : response.statusCode === expects)
            ? resolve()
            : reject(new Error(`${path} answered ${response.statusCode}`))
        )
      }
    )
    sent.once("error", reject)
    sent.end(body ?? undefined)
  })

/**
 * {@link CONNECTIONS} connections to one server. They stay open from one load to the next: when all clients leave at
 * once, what a server has compiled for them is thrown away, and compiled anew.
 */
export class Connections {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  readonly #port: number
  readonly #headers: { readonly [name: string]: string }
  readonly #expects: number | null

  /** `expects`: the status of every answer; left out, any below 300. */
  constructor({
    expects = null,
    headers,
    port
  }: {
    readonly port: number
    readonly headers: { readonly [name: string]: string }
    readonly expects?: number | null
  }) {
    this.#port = port
    this.#headers = headers
    this.#expects = expects
  }

  /** Sends all of them, one a connection at a time. */
  async load(requests: ReadonlyArray<Request>): Promise<void> {
    let next = 0
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (next < requests.length)
          await send(this.#agent, this.#port, this.#headers, requests[next++]!, this.#expects)
      })
    )
  }

  close(): void {
    this.#agent.destroy()
  }
}

/**
 * Processor time that all threads of a process have used, those that ended left out; servers' threads stay. Unit:
 * milliseconds.
 */
export const processorMs = (pid: number): number => processUs(pid) / 1_000
