/** A real `flyball serve` in a folder of its own, and a small client for it. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"

const root = fileURLToPath(new URL("../..", import.meta.url))
const mainFile = `${root}apps/server/src/main.ts`
const verifyFile = `${root}apps/verify/src/main.ts`

/** Output of a finished command. */
export interface Finished {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const finish = (
  file: string,
  args: ReadonlyArray<string>,
  environment: { readonly [name: string]: string }
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk) => (stdout += String(chunk)))
    child.stderr.on("data", (chunk) => (stderr += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status: status ?? -1, stdout, stderr }))
  })

/** Runs `flyball-verify`. */
export const verify = (...args: ReadonlyArray<string>): Promise<Finished> => finish(verifyFile, args, {})

/** A running server, with the folder it works in. */
export interface RunningServer {
  readonly address: string
  readonly flyball: (...args: ReadonlyArray<string>) => Promise<Finished>
  readonly call: (
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers?: { readonly [name: string]: string }
  ) => Promise<{ readonly status: number; readonly headers: Headers; readonly bytes: Uint8Array; readonly json: any }>
  /** Kills it with SIGKILL. */
  readonly kill: () => Promise<number>
  readonly stop: () => Promise<number>
}

/** The file of upstreams that servers of `folder` read. */
export const upstreamsFile = (folder: string): string => `${folder}/upstreams.json`

/**
 * Starts a server on a free port with its store and keys in `folder`, and waits for its ready line. It logs nothing:
 * days pass between two starts, and then it would tell that the clock is behind.
 */
export const startServer = async (folder: string): Promise<RunningServer> => {
  const environment = {
    FLYBALL_PORT: "0",
    FLYBALL_DRAIN_MS: "0",
    FLYBALL_HOST: "127.0.0.1",
    FLYBALL_DATA_DIR: folder,
    FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`,
    FLYBALL_ORIGIN: "flyball.example/demo",
    FLYBALL_LOG_LEVEL: "silent",
    FLYBALL_TRUST_STORE: `${folder}/trust`,
    // The README's reader and the client's have none.
    ...(existsSync(upstreamsFile(folder)) ? { FLYBALL_GATEWAY_UPSTREAMS: upstreamsFile(folder) } : {}),
    FLYBALL_EGRESS_ALLOW: "127.0.0.1",
    FLYBALL_EGRESS_HTTP: "1"
  }
  const child = spawn(process.execPath, [mainFile, "serve"], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = new Promise<number>((resolve) => child.on("close", (status) => resolve(status ?? -1)))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /http:\/\/\S+/.exec(line)
      if (found !== null) resolve(found[0])
    })
    exited.then((status) => reject(new Error(`the server ended with status ${status} before it was ready`)), reject)
  })
  return {
    address,
    flyball: (...args) => finish(mainFile, args, environment),
    call: async (method, path, token, body, headers = {}) => {
      const response = await fetch(`${address}${path}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      const isJson = response.headers.get("content-type")?.includes("json") === true
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        json:
          isJson && !response.headers.get("content-type")!.includes("ndjson")
            ? JSON.parse(new TextDecoder().decode(bytes))
            : null
      }
    },
    kill: () => {
      child.kill("SIGKILL")
      return exited
    },
    stop: () => {
      child.kill("SIGTERM")
      return exited
    }
  }
}
