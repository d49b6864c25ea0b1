/** One life of the capturing process, up to the moment at which it is killed. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Book } from "../audit/book.ts"
import type { StoreAt } from "./store-at.ts"

/** When a life ends: so long after this line was seen for the `count`-th time. */
export interface Moment {
  /** `done` is any acknowledged act; the others are stages, in the order of a life. */
  readonly after: "start" | "opening" | "done" | "signing" | "closing"
  readonly count: number
  /** Unit: microseconds. */
  readonly delayUs: number
}

/** How a life ended. */
export interface Ended {
  /** False when the process was through with everything before the moment came. */
  readonly killed: boolean
  /** The last stage that it reported. */
  readonly stage: string
}

const program = fileURLToPath(new URL("./capturing-process.ts", import.meta.url))

/** Acts after which a process that is to be killed while it closes begins to close. */
const CLOSE_AFTER = 60

/** Runs the process until the moment, kills it, and writes all that it said into the book. */
export const liveUntil = (at: StoreAt, dir: string, round: number, moment: Moment, book: Book): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const closeAfter = moment.after === "closing" ? CLOSE_AFTER : 0
    const child = spawn(process.execPath, [program, JSON.stringify(at), dir, String(round), String(closeAfter)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [stage, seen, text, stderr] = ["start", 0, "", ""]
    const count = (what: string): void => {
      if (what === moment.after && ++seen === moment.count) killAfter(child, moment.delayUs)
    }
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      const lines = text.split("\n")
      // The line under way when the process died is not an acknowledgement: its caller never saw the end of it.
      text = lines.pop()!
      for (const line of lines) {
        const [tag, what, ...rest] = line.split(" ")
        if (tag === "stage") stage = what!
        else if (tag === "ask") ask(book, what!, rest)
        else if (tag === "done") done(book, what!, rest)
        else if (tag === "vouched")
          book.vouched.push({ size: Number(what), rootHex: rest[0]!, by: `the process of round ${round}` })
        count(tag === "stage" ? what! : tag!)
      }
    })
    count("start")
    child.on("close", (status, signal) => {
      if (signal === "SIGKILL") resolve({ killed: true, stage })
      else if (status === 0 && stage === "closed") resolve({ killed: false, stage })
      else
        reject(
          new Error(`the process of round ${round} ended by itself with ${status ?? signal}: ${stderr.slice(-2_000)}`)
        )
    })
  })

/** Timers count whole milliseconds; what is shorter is waited for here. */
const killAfter = (child: ReturnType<typeof spawn>, delayUs: number): void => {
  if (delayUs >= 2_000) return void setTimeout(() => child.kill("SIGKILL"), delayUs / 1_000)
  const until = performance.now() + delayUs / 1_000
  while (performance.now() < until);
  child.kill("SIGKILL")
}

const ask = (book: Book, act: string, refs: ReadonlyArray<string>): void => {
  if (act === "witness") return book.sending(refs)
  for (const ref of refs) (act === "settle" ? book.settleSent : book.eraseSent).add(ref)
}

const done = (book: Book, act: string, [ref, seq, hash]: ReadonlyArray<string>): void => {
  const landed = { seq: Number(seq), hash: hash! }
  if (act === "erase") book.erased.set(ref!, landed)
  else book.landed(act === "witness" ? book.witnessed : book.settled, ref!, landed)
}
