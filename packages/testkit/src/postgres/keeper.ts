/**
 * A process that keeps one Postgres and ends with its parent.
 *
 * Prints `ready`, or the server's last lines, as its first line. When standard input closes (the parent closed it,
 * ended, or was killed), it stops the server at once; the data is thrown away, so nothing needs a clean shutdown.
 */
import { spawn } from "node:child_process"
import { rmSync } from "node:fs"

/** The task of the keeper, as JSON in its one argument. */
export interface KeeperTask {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Removed at the end, unless the server never came up. */
  readonly folder: string
  readonly environment: { readonly [name: string]: string }
  readonly uid?: number
  readonly gid?: number
}

/** How much of the server's log is kept for the message when it does not start. Unit: characters. */
const keptLog = 2_000

const keep = (task: KeeperTask): void => {
  const { uid, gid } = task
  const server = spawn(task.command, task.args, {
    cwd: "/",
    env: task.environment,
    stdio: ["ignore", "ignore", "pipe"],
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid })
  })
  let log = ""
  let ready = false
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-keptLog)
    if (!ready && /ready to accept (read-only )?connections/.test(log)) {
      ready = true
      process.stdout.write("ready\n")
    }
  })
  const finish = (): void => {
    if (ready) rmSync(task.folder, { recursive: true, force: true })
    else process.stdout.write(`${log.replace(/\s+/g, " ").trim() || "it ended without a word"}\n`)
    process.exit(0)
  }
  server.once("error", (error) => {
    log += error.message
    finish()
  })
  server.once("close", finish)
  process.stdin.resume().once("close", () => server.kill("SIGQUIT"))
}

const argument = process.argv[2]
if (argument !== undefined) keep(JSON.parse(argument) as KeeperTask)
