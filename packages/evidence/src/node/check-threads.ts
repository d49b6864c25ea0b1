/** Threads that check runs of records ahead of the reader. */
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import type { CheckedBlock } from "../verify/verify-pack.ts"
import { recordModule } from "./record-module.ts"

/** What a thread is asked: about whole lines, and whether the parts of the records are wanted. */
export interface BlockToCheck {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly keepParts: boolean
}

/** What a thread is given when it starts: the program of `record-code.ts`, compiled already. */
export interface CheckingThreadData {
  readonly program: WebAssembly.Module | null
}

/**
 * What a thread runs first: it does not inherit the compile cache, and stripping types anew takes most of its start.
 */
const BOOTSTRAP = `
  const { workerData } = require("node:worker_threads")
  if (workerData.cache !== null) require("node:module").enableCompileCache(workerData.cache)
  import(workerData.url)`

/** A checking thread ended or failed. It says nothing about a pack. */
export class CheckingThreadFailed extends Error {
  override readonly name = "CheckingThreadFailed"
}

/**
 * Blocks that a thread has before it: one it works on, and enough that it need not wait for the reader, who is busy for
 * a block at a time.
 */
const BLOCKS_PER_THREAD = 3

/** Heap of a thread: it keeps a few hundred kilobytes, and whatever else is made soon dies. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 }

interface Thread {
  readonly worker: Worker
  ready: boolean
  /** Answers come in the order of the blocks. */
  readonly asked: Array<{ readonly resolve: (block: CheckedBlock) => void; readonly reject: (cause: Error) => void }>
}

/** Some threads, all the same. Close them, or the process does not end. */
export class CheckThreads implements AsyncDisposable {
  /** Fulfilled when every thread can take blocks; until then the reader works alone. */
  readonly ready: Promise<void>
  readonly #threads: ReadonlyArray<Thread>
  #failure: Error | null = null

  constructor(
    count: number,
    program: URL = new URL(import.meta.url.endsWith(".ts") ? "./check-worker.ts" : "./check-worker.js", import.meta.url)
  ) {
    const starts: Array<Promise<void>> = []
    const cache = getCompileCacheDir()
    const workerData = {
      url: program.href,
      cache: cache === undefined ? null : dirname(cache),
      program: recordModule()
    }
    this.#threads = Array.from({ length: count }, () => {
      const thread: Thread = {
        worker: new Worker(BOOTSTRAP, { eval: true, resourceLimits: LIMITS, workerData }),
        ready: false,
        asked: []
      }
      starts.push(
        new Promise((resolve, reject) => {
          thread.worker.on("message", (message: "ready" | CheckedBlock) => {
            if (message !== "ready") return thread.asked.shift()!.resolve(message)
            thread.ready = true
            resolve()
          })
          const failed = (what: string): void => {
            this.#failure ??= new CheckingThreadFailed(
              `A thread that checks records ${what}, so nothing is said about the pack. Try again with one ` +
                "thread (threads: 1, --threads 1)."
            )
            for (const { reject: refuse } of thread.asked.splice(0)) refuse(this.#failure)
            reject(this.#failure)
          }
          thread.worker.on("error", (cause: Error) => failed(`failed (${cause.message})`))
          thread.worker.on("exit", () => failed("ended"))
        })
      )
      return thread
    })
    this.ready = Promise.all(starts).then(() => undefined)
    // Whoever does not wait for them learns of it with the next block.
    this.ready.catch(() => undefined)
  }

  /** Blocks that may be under way at once. */
  get room(): number {
    return this.#threads.length * BLOCKS_PER_THREAD
  }

  /**
   * Has a block checked, and takes its buffer away until then; null when every thread has enough to do. Fails:
   * `CheckingThreadFailed`.
   */
  check(block: BlockToCheck): Promise<CheckedBlock> | null {
    if (this.#failure !== null) throw this.#failure
    let idlest: Thread | null = null
    for (const thread of this.#threads) {
      if (
        thread.ready &&
        thread.asked.length < BLOCKS_PER_THREAD &&
        (idlest === null || thread.asked.length < idlest.asked.length)
      )
        idlest = thread
    }
    if (idlest === null) return null
    const { asked, worker } = idlest
    const answer = new Promise<CheckedBlock>((resolve, reject) => asked.push({ resolve, reject }))
    // It is awaited in its turn; failing before that is no unhandled rejection.
    answer.catch(() => undefined)
    worker.postMessage(block, [block.bytes.buffer])
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }
}
