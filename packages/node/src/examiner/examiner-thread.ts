/** The host's end of a thread that answers questions about envelopes or behaviour. */
import { existsSync } from "node:fs"
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import {
  type Answers,
  inPlaceLimits,
  type Kind,
  type Limits,
  type Questions,
  type Rows,
  rowsOf,
  threadLimits,
  withRows
} from "@flyball/core/examination"
import type { Requested, Replied } from "./examiner-protocol.ts"

/** The thread's module: beside this one, or the installed package's when a bundler moved this one. */
const threadModule = (): string => {
  const beside = new URL(
    import.meta.url.endsWith(".ts") ? "./examiner-worker.ts" : "./examiner-worker.js",
    import.meta.url
  )
  return existsSync(beside) ? beside.href : import.meta.resolve("@flyball/node/examiner-worker")
}

/**
 * Script that a thread runs first: it does not inherit the compile cache, and stripping types again takes most of its
 * start.
 */
const BOOTSTRAP = `
  const { workerData } = require("node:worker_threads")
  if (workerData.cache !== null) require("node:module").enableCompileCache(workerData.cache)
  import(workerData.url)`

/**
 * Heap limit of the thread. The size of a question is bounded, and a diagram with the most nodes allowed takes a
 * quarter of this. Unit: MiB.
 */
const HEAP_MB = 512

/** Events or decisions that are written to the thread in one turn: some tenths of a millisecond. */
const PER_TURN = 200

/** Result of a question. `reason`: why nobody could answer it. */
export type Answered<K extends Kind> =
  | { readonly ok: true; readonly answer: Answers[K] }
  | { readonly ok: false; readonly reason: string }

interface Waiting {
  readonly kind: Kind
  readonly about: Questions[Kind]
  readonly done: (answered: Answered<never>) => void
  limits: Limits
}

/** Options of the thread; tests replace them. */
export interface ExaminerThreadOptions {
  readonly heapMb?: number
  readonly limits?: Limits
}

/**
 * One thread, started with the first question. It answers one question at a time, in their order, and keeps the host's
 * process alive only while it does.
 *
 * A question over which the thread died is repeated once, in a new thread and within the short budget of a host
 * without one; the others wait meanwhile.
 */
export class ExaminerThread {
  readonly #heapMb: number
  readonly #limits: Limits
  /** The first is being answered. */
  readonly #waiting: Array<Waiting> = []
  #worker: Worker | null = null
  #closed = false

  constructor({ heapMb = HEAP_MB, limits = threadLimits }: ExaminerThreadOptions = {}) {
    this.#heapMb = heapMb
    this.#limits = limits
  }

  /** Asks. `done` is called once; answers what takes the question back as long as it waits for its turn. */
  ask<K extends Kind>(kind: K, about: Questions[K], done: (answered: Answered<K>) => void): () => void {
    const waiting: Waiting = { kind, about, done: done as (answered: Answered<never>) => void, limits: this.#limits }
    if (this.#closed) {
      done({ ok: false, reason: "the thread was closed" })
      return () => undefined
    }
    if (this.#waiting.push(waiting) === 1) this.#post()
    return () => {
      const place = this.#waiting.indexOf(waiting)
      if (place > 0) this.#waiting.splice(place, 1)
    }
  }

  /** Ends the thread. Waiting questions are answered with a reason. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = null
    for (const { done } of this.#waiting.splice(0)) done({ ok: false, reason: "the thread was closed" })
    await worker?.terminate()
  }

  /** Ends the thread as a fatal error inside it would. Only tests call it. */
  async crash(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Writes the first question that waits: its long part in slices, then the question. */
  #post(): void {
    const first = this.#waiting[0]
    if (first === undefined) return
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    const { about, kind, limits } = first
    const rows = rowsOf(about)
    const send = (requested: Requested): void => worker.postMessage(requested, [])
    const from = (place: number): void => {
      if (this.#worker !== worker) return
      if (place >= rows.length) return send({ op: "ask", kind, about: withRows(about, []), limits })
      send({ op: "rows", rows: rows.slice(place, place + PER_TURN) as Rows })
      setImmediate(() => from(place + PER_TURN))
    }
    from(0)
  }

  #start(): Worker {
    const cache = getCompileCacheDir()
    const worker = new Worker(BOOTSTRAP, {
      eval: true,
      execArgv: [],
      name: "flyball-examiner",
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb },
      workerData: { url: threadModule(), cache: cache === undefined ? null : dirname(cache) }
    })
    worker.on("message", (replied: Replied) => this.#answered(worker, replied))
    worker.on("error", (error: Error) => this.#died(worker, error.message))
    worker.on("exit", () => this.#died(worker, "it stopped"))
    return worker
  }

  #answered(worker: Worker, replied: Replied): void {
    if (this.#worker !== worker) return
    worker.unref()
    const first = this.#waiting.shift()
    this.#post()
    first?.done(replied as Answered<never>)
  }

  #died(worker: Worker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const first = this.#waiting[0]
    if (first !== undefined && first.limits === inPlaceLimits) {
      this.#waiting.shift()
      first.done({ ok: false, reason: `the thread died twice over this question (${why})` })
    } else if (first !== undefined) first.limits = inPlaceLimits
    this.#post()
  }
}
