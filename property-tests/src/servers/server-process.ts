/** A real `flyball serve` in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** `npm test` joins the program first; the sources start where a file runs alone. */
const joined = process.env["FLYBALL_TEST_PROGRAMS"]
const program =
  joined === undefined
    ? fileURLToPath(new URL("../../../apps/server/src/main.ts", import.meta.url))
    : `${joined}/server/main.js`

/** The part of this process's environment that a command needs, without its settings. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("FLYBALL_") && !name.startsWith("npm_"))
)

/** Settings, as variables of the environment. */
export type Variables = { readonly [name: string]: string }

/** How a command ended. */
export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** One line of the server's log. */
export interface LogLine {
  readonly level: "info" | "warn" | "error"
  readonly message: string
  readonly [member: string]: unknown
}

/** A running server. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** Sends a signal and waits for the end. */
  readonly stop: (signal: NodeJS.Signals) => Promise<Ended>
  /** False once it ended, whatever ended it. */
  readonly runs: () => boolean
  /** Everything it logged so far. */
  readonly log: () => ReadonlyArray<LogLine>
}

const start = (
  args: ReadonlyArray<string>,
  variables: Variables,
  prefix: ReadonlyArray<string>
): { readonly child: ChildProcess; readonly ended: Promise<Ended>; readonly err: () => string } => {
  const [command, ...rest] = [...prefix, process.execPath, program, ...args]
  const child = spawn(command!, rest, {
    env: { ...environment, FLYBALL_PORT: "0", FLYBALL_DRAIN_MS: "0", ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let [out, err] = ["", ""]
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (out += text))
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (err += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (status, signal) => resolve({ status, signal, out, err }))
  })
  return { child, ended, err: () => err }
}

/** Runs a command of `flyball` to its end. `prefix` stands before it, as `nice` would. */
export const flyball = (
  args: ReadonlyArray<string>,
  variables: Variables,
  prefix: ReadonlyArray<string> = []
): Promise<Ended> => start(args, variables, prefix).ended

/** Starts a server and waits until it is ready. Rejects with what it printed when it ends before. */
export const startServer = async (variables: Variables, prefix: ReadonlyArray<string> = []): Promise<ServerProcess> => {
  const { child, ended, err } = start(["serve"], variables, prefix)
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout!).on("line", (line) => {
      const found = / is ready at (http:\S+)$/.exec(line)
      if (found !== null) resolve(found[1]!)
    })
    ended.then(
      ({ err, signal, status }) =>
        reject(new Error(`flyball serve ended with ${status ?? signal}: ${err.slice(-2_000)}`)),
      reject
    )
  })
  return {
    url,
    pid: child.pid!,
    stop: (signal) => {
      child.kill(signal)
      return ended
    },
    runs: () => child.exitCode === null && child.signalCode === null,
    log: () =>
      err()
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as LogLine)
  }
}

/** A token of the role admin, which every server with this data folder takes. It lasts a quarter of an hour. */
export const adminToken = async (variables: Variables, prefix: ReadonlyArray<string> = []): Promise<string> => {
  const { err, out, status } = await flyball(["token", "--role", "admin"], variables, prefix)
  if (status !== 0) throw new Error(`flyball token ended with ${status}: ${err}`)
  return out.trim()
}
