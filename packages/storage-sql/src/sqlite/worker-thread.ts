/** The host's end of a storage worker: requests and answers, and what happens when the thread dies. */
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import type { Fault } from "./answers.ts"
import { inMemory } from "./layout.ts"
import { inlineWorker, type StorageWorker, type WorkerEvents } from "./inline-worker.ts"
import type { AnswerTo, OpenRequest, Posted, Reply, WorkerRequest } from "./protocol.ts"
import { isWrite } from "./protocol.ts"
import { threadBootstrap } from "./thread-bootstrap.ts"

/** What a request came to. */
export type Outcome<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly fault: Fault }

/**
 * Answers that are handed out in one turn of the host's event loop, at most: with each goes what its caller does next, which is some 40 microseconds of planning
 * where a decision waited for its agent.
 */
const turnReplies = 30

/** Whether this source runs as it stands or was built: the worker is the file beside it. */
const workerUrl = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url).href

const unavailable = (reason: string, wrote: "no" | "unknown"): Fault => ({ _tag: "Unavailable", reason, wrote })

/**
 * One storage worker, started when it is first needed and started again after it died. That of a small store works in the host's own thread.
 *
 * It keeps the host's process alive only while a request waits for it.
 */
export class WorkerThread {
  readonly #open: OpenRequest
  readonly #waiting = new Map<number, Waiting>()
  /** Requests of this turn of the event loop: a message costs more than most requests, and wakes the thread. */
  #outbox: Array<Posted> = []
  #transfer: Array<ArrayBuffer> = []
  /** Answers that came and were not handed out yet, in order. */
  #inbox: Array<Reply> = []
  #worker: StorageWorker | null = null
  /** Whether this thread was told to open the database and has not said that it could not. */
  #opened = false
  #nextId = 0
  #closed = false
  /** A database in memory dies with its thread: going on with an empty one would be a lie. */
  #lost = false

  constructor(open: OpenRequest) {
    this.#open = open
  }

  /** Starts the worker without opening anything, so that several can start side by side. */
  boot(): StorageWorker {
    this.#opened = false
    const worker: StorageWorker = (this.#open.small ? inlineWorker : threadWorker(this.#open.role))({
      answered: (replies) => this.#answered(replies),
      died: (why) => this.#died(worker, why)
    })
    return this.#worker = worker
  }

  /** Starts the thread if need be, and opens the database. */
  open(done: (outcome: Outcome<null>) => void): void {
    const worker = this.#worker ?? this.boot()
    this.#opened = true
    this.#post(worker, this.#open, [], (outcome) => {
      if (!outcome.ok && this.#worker === worker) this.#opened = false
      done(outcome)
    })
  }

  /** Sends one request, after opening the database again where that is needed. `done` is called once, whatever happens. */
  send<Op extends WorkerRequest["op"]>(
    request: Extract<WorkerRequest, { readonly op: Op }>,
    transfer: ReadonlyArray<ArrayBuffer>,
    done: (outcome: Outcome<AnswerTo<Op>>) => void
  ): void {
    if (this.#closed) return done({ ok: false, fault: unavailable("it was closed", "no") })
    if (this.#lost) return done({ ok: false, fault: unavailable("its thread died and the database in memory with it; start anew", "no") })
    // The thread serves in order: if it cannot open, it answers this request with the reason.
    if (this.#worker === null || !this.#opened) this.open(() => undefined)
    this.#post(this.#worker!, request, transfer, done as (outcome: Outcome<unknown>) => void)
  }

  /** Closes the database and ends the thread. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    if (worker === null) return
    await new Promise<unknown>((done) => this.#post(worker, { op: "close" }, [], done))
    this.#worker = null
    await worker.terminate()
  }

  /** Ends the thread as a fatal error inside it would. Only tests call it. */
  async crash(): Promise<void> {
    await this.#worker?.terminate()
  }

  #post(worker: StorageWorker, request: WorkerRequest, transfer: ReadonlyArray<ArrayBuffer>, done: (outcome: Outcome<never>) => void): void {
    const id = this.#nextId++
    if (this.#waiting.size === 0) worker.ref()
    this.#waiting.set(id, { wrote: isWrite(request) ? "unknown" : "no", done: done as (outcome: Outcome<unknown>) => void })
    const first = this.#outbox.push({ id, request }) === 1
    this.#transfer.push(...transfer)
    // A batch has gathered already, and should not wait until its callers' neighbours are done with their turn.
    if (request.op === "commit") this.#flush(worker)
    else if (first) setImmediate(() => this.#flush(worker))
  }

  /** Sends what gathered. Nothing has if the thread died meanwhile: its callers were told. */
  #flush(worker: StorageWorker): void {
    if (this.#outbox.length === 0) return
    const posted = this.#outbox
    const transfer = this.#transfer
    this.#outbox = []
    this.#transfer = []
    worker.postMessage(posted, transfer)
  }

  #answered(replies: ReadonlyArray<Reply>): void {
    const idle = this.#inbox.length === 0
    this.#inbox.push(...replies)
    if (idle) this.#handOut(turnReplies)
  }

  /** In turns, so that the host gets to its other work between two. */
  #handOut(most: number): void {
    // Taken out first: a caller may do anything with its answer.
    for (const reply of this.#inbox.splice(0, most)) {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if (this.#waiting.size === 0) this.#worker?.unref()
      waiting?.done(reply)
    }
    if (this.#inbox.length > 0) setImmediate(() => this.#handOut(turnReplies))
  }

  #died(worker: StorageWorker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#lost = this.#open.file === inMemory
    const waiting = new Map(this.#waiting)
    this.#waiting.clear()
    this.#outbox = []
    this.#transfer = []
    // What it answered before it died stands.
    for (const reply of this.#inbox.splice(0)) {
      waiting.get(reply.id)?.done(reply)
      waiting.delete(reply.id)
    }
    for (const { wrote, done } of waiting.values()) done({ ok: false, fault: unavailable(`its thread died (${why})`, wrote) })
  }
}

/** Starts a thread. */
const threadWorker = (role: OpenRequest["role"]) => ({ answered, died }: WorkerEvents): StorageWorker => {
  const cache = getCompileCacheDir()
  const worker = new Worker(threadBootstrap, {
    eval: true,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    name: `flyball-storage-${role}`,
    workerData: { url: workerUrl, cache: cache === undefined ? null : dirname(cache) }
  })
  worker.unref()
  worker.on("message", answered)
  worker.on("error", (error: Error) => died(error.message))
  worker.on("exit", () => died("it stopped"))
  return worker
}

interface Waiting {
  readonly wrote: "no" | "unknown"
  readonly done: (outcome: Outcome<unknown>) => void
}
