/** The jobs of a governor in a process of its own, where a test says when a minute has passed. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("./jobs-main.ts", import.meta.url))

/** A process that runs the jobs. What is waited for rejects when it ends before. */
export interface JobsProcess {
  /** Once the clock of the registry has suspended an agent. */
  readonly begun: Promise<void>
  /** Resolves after the clock's first poll: how many agents it suspended. */
  readonly polled: Promise<number>
  /** Lets the clock poll again, and answers how many agents it suspended this time. */
  readonly poll: () => Promise<number>
  readonly send: (signal: NodeJS.Signals) => void
  /** Ends it in order, where nothing ended it yet; answers the status, or the signal. */
  readonly stop: () => Promise<number | NodeJS.Signals | null>
}

/** Starts one that lives so many days later. */
export const startJobs = (databaseUrl: string, dataDir: string, days: number): JobsProcess => {
  const child = spawn(process.execPath, [program, databaseUrl, dataDir, String(days)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  // A line for a process that has just ended is lost with it.
  child.stdin.on("error", () => {})
  const lines = createInterface(child.stdout)
  let suspended = 0
  lines.on("line", (line) => {
    if (line.startsWith("suspended ")) suspended += 1
    else if (line !== "polled") console.error(line)
  })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (status, signal) => resolve(signal ?? status))
  })
  const reported = (start: string): Promise<void> => {
    const waited = new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => void (line.startsWith(start) && resolve()))
      ended.then((how) => reject(new Error(`the process ended with ${how} before it said "${start}"`)), reject)
    })
    // Not everybody waits for everything.
    waited.catch(() => {})
    return waited
  }
  const next = async (): Promise<number> => {
    const before = suspended
    await reported("polled")
    return suspended - before
  }
  const polled = next()
  polled.catch(() => {})
  return {
    begun: reported("suspended "),
    polled,
    poll: () => {
      child.stdin.write("\n")
      return next()
    },
    send: (signal) => void child.kill(signal),
    stop: () => {
      child.stdin.end()
      return ended
    }
  }
}
