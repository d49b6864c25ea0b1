/** The real commands as an operator runs them, each in a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { mainFile, verifyFile } from "./programs.ts"

/** The 296 decisions of three agents that come with the project. */
export const starterFile = fileURLToPath(new URL("../../../../../fixtures/traces/starter.ndjson", import.meta.url))

/** Lines `from` to `to` of the starter traces, counted from 1. */
export const starterLines = (from: number, to: number): ReadonlyArray<string> =>
  readFileSync(starterFile, "utf8")
    .split("\n")
    .slice(from - 1, to)

/** Variables of the environment, on top of those that every command needs. */
export type Variables = { readonly [name: string]: string }

/** How a command ended. */
export interface Finished {
  /** Minus one when a signal ended it. */
  readonly status: number
  readonly out: string
  readonly err: string
}

/** A running `flyball serve`. */
export interface RunningServer {
  readonly url: string
  /** Everything on standard output so far. */
  readonly out: () => string
  readonly err: () => string
  /** Sends a signal and waits for the end. */
  readonly stop: (signal: NodeJS.Signals) => Promise<Finished>
  /** Calls the interface with a token of the role admin. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Response>
}

/** A folder to run commands in; it goes away with {@link Operator.leave}. */
export interface Operator {
  readonly folder: string
  readonly path: (...names: ReadonlyArray<string>) => string
  /** Runs `flyball` with the defaults of a fresh environment and a free port. */
  readonly flyball: (
    args: ReadonlyArray<string>,
    variables?: Variables,
    input?: string | Uint8Array
  ) => Promise<Finished>
  readonly verify: (...args: ReadonlyArray<string>) => Promise<Finished>
  /** Starts `flyball serve` and waits for its ready line. Fails with what it printed when it ends before. */
  readonly serve: (variables?: Variables, args?: ReadonlyArray<string>) => Promise<RunningServer>
  /** Ends what still runs, and removes the folder. */
  readonly leave: () => Promise<void>
}

/** Makes an operator with an empty folder. */
export const operator = (): Operator => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-cli-"))
  const running = new Set<{ readonly child: ChildProcess; readonly ended: Promise<Finished> }>()

  const start = (file: string, args: ReadonlyArray<string>, variables: Variables, input: string | Uint8Array = "") => {
    const child = spawn(process.execPath, [file, ...args], {
      cwd: folder,
      env: { ...bareEnvironment, FLYBALL_PORT: "0", FLYBALL_DRAIN_MS: "0", ...variables },
      stdio: ["pipe", "pipe", "pipe"]
    })
    // A command that does not read what it is given may be gone before it is all sent.
    child.stdin.on("error", () => undefined).end(input)
    const seen = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (seen.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (seen.err += text))
    const ended = new Promise<Finished>((resolve, reject) => {
      child.on("error", reject)
      child.on("close", (status) => resolve({ status: status ?? -1, ...seen }))
    })
    const entry = { child, ended }
    running.add(entry)
    const forget = (): void => void running.delete(entry)
    ended.then(forget, forget)
    return { child, ended, seen }
  }

  const flyball: Operator["flyball"] = (args, variables = {}, input) => start(mainFile, args, variables, input).ended

  return {
    folder,
    path: (...names) => join(folder, ...names),
    flyball,
    verify: (...args) => start(verifyFile, args, {}).ended,
    serve: async (variables = {}, args = []) => {
      const { child, ended, seen } = start(mainFile, ["serve", ...args], variables)
      const url = await new Promise<string>((resolve, reject) => {
        createInterface(child.stdout).on("line", (line) => {
          const found = / is ready at (http:\S+)$/.exec(line)
          if (found !== null) resolve(found[1]!)
        })
        ended.then((how) => reject(new Error(`flyball serve ended with status ${how.status}: ${how.err}`)), reject)
      })
      let token: Promise<Finished> | null = null
      return {
        url,
        out: () => seen.out,
        err: () => seen.err,
        stop: (signal) => {
          child.kill(signal)
          return ended
        },
        call: async (method, path, body) => {
          token ??= flyball(["token", "--role", "admin"], variables)
          const { out } = await token
          return fetch(`${url}${path}`, {
            method,
            headers: { authorization: `Bearer ${out.trim()}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
        }
      }
    },
    leave: async () => {
      await Promise.all(
        [...running].map(({ child, ended }) => {
          child.kill("SIGKILL")
          return ended
        })
      )
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The part of this process's environment that a command needs, without its settings. */
const bareEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("FLYBALL_") && !name.startsWith("npm_"))
)
