/** One life of a process that acts until it is killed, and what it said before. */
import { spawn } from "node:child_process"
import type { StoreAt } from "./store-at.ts"

/** Output of a process before it died: acts that were answered, and those under way, each as its words. */
export interface Life {
  readonly done: ReadonlyArray<ReadonlyArray<string>>
  readonly under: ReadonlyArray<ReadonlyArray<string>>
}

/**
 * Lets the program live until its `acts`-th answer, and kills it so many microseconds later.
 *
 * The program gets the storage as JSON, the data folder and `ids`. It prints `ask ACT KEY…` before each act and `done
 * ACT KEY…` after its answer.
 */
export const liveUntilKilled = (
  program: string,
  at: StoreAt,
  dir: string,
  ids: ReadonlyArray<string>,
  acts: number,
  delayUs: number
): Promise<Life> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(at), dir, ...ids], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [text, stderr] = ["", ""]
    const done: Array<ReadonlyArray<string>> = []
    const under = new Map<string, ReadonlyArray<string>>()
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      const lines = text.split("\n")
      text = lines.pop()!
      for (const line of lines) {
        const [tag, act, ...rest] = line.split(" ")
        if (tag === "ask") under.set(`${act} ${rest[0]}`, [act!, ...rest])
        if (tag !== "done") continue
        under.delete(`${act} ${rest[0]}`)
        done.push([act!, ...rest])
        if (done.length !== acts) continue
        const until = performance.now() + delayUs / 1_000
        while (performance.now() < until);
        child.kill("SIGKILL")
      }
    })
    child.on("close", (_, signal) =>
      signal === "SIGKILL"
        ? resolve({ done, under: [...under.values()] })
        : reject(new Error(`the process ended by itself: ${stderr.slice(-2_000)}`))
    )
  })
