/** The host's end of a storage worker: requests and answers, and what happens when the thread dies. */
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import { queueTask } from "@flyball/core/storage"
import type { Fault } from "../answers.ts"
import { inMemory } from "../layout.ts"
import { inlineWorker, type StorageWorker, type WorkerEvents } from "./inline-worker.ts"
import type { AnswerTo, OpenRequest, Posted, Reply, WorkerRequest } from "./protocol.ts"
import { isWrite } from "./protocol.ts"
import { threadModule } from "../../thread-module.ts"
import { threadBootstrap } from "./thread-bootstrap.ts"

/** Result of a request. */
export type Outcome<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly fault: Fault }

const unavailable = (reason: string, wrote: "no" | "unknown"): Fault => ({ _tag: "Unavailable", reason, wrote })

/**
 * One storage worker, started when it is first needed and started again after it died. That of a small store works in
 * the host's own thread.
 *
 * It keeps the host's process alive only while a request waits for it.
 */
export class WorkerThread {
  readonly #open: OpenRequest
  readonly #waiting = new Map<number, Waiting>()
  /** Requests of this turn of the event loop: a message costs more than most requests, and wakes the thread. */
  #outbox: Array<Posted> = []
  /**
   * The callers that wait for the documents that {@link #outbox} requests: callers of one turn often want the same, and
   * one read serves them all.
   */
  readonly #wanted = new Map<string, Waiting>()
  /** Answers that came and were not handed out yet, in order. */
  readonly #inbox: Array<Waiting> = []
  #worker: StorageWorker | null = null
  /** True once this thread began to open the database and has not reported a failure. */
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
    return (this.#worker = worker)
  }

  /** Starts the thread if need be, and opens the database. */
  open(done: (outcome: Outcome<null>) => void): void {
    const worker = this.#worker ?? this.boot()
    this.#opened = true
    this.#post(worker, this.#open, (outcome) => {
      if (!outcome.ok && this.#worker === worker) this.#opened = false
      done(outcome)
    })
  }

  /**
   * Sends one request, after opening the database again where that is needed. `done` is called once, whatever happens.
   */
  send<Op extends WorkerRequest["op"]>(
    request: Extract<WorkerRequest, { readonly op: Op }>,
    done: (outcome: Outcome<AnswerTo<Op>>) => void
  ): void {
    if (this.#closed) return done({ ok: false, fault: unavailable("it was closed", "no") })
    if (this.#lost)
      return done({
        ok: false,
        fault: unavailable("its thread died and the database in memory with it; start anew", "no")
      })
    // The thread serves in order: if it cannot open, it answers this request with the reason.
    if (this.#worker === null || !this.#opened) this.open(() => undefined)
    this.#post(this.#worker!, request, done as (outcome: Outcome<unknown>) => void)
  }

  /** Closes the database and ends the thread. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    if (worker === null) return
    await new Promise<unknown>((done) => this.#post(worker, { op: "close" }, done))
    this.#worker = null
    await worker.terminate()
  }

  /** Ends the thread as a fatal error inside it would. Only tests call it. */
  async crash(): Promise<void> {
    await this.#worker?.terminate()
  }

  #post(worker: StorageWorker, request: WorkerRequest, done: (outcome: Outcome<never>) => void): void {
    const waiting = new Waiting(request, done as (outcome: Outcome<unknown>) => void)
    if (request.op === "get") {
      const wanted = `${request.collection}\0${request.id}`
      const same = this.#wanted.get(wanted)
      if (same !== undefined) return same.add(waiting)
      this.#wanted.set(wanted, waiting)
    } else if (waiting.wrote === "unknown") {
      // A read that is requested after a write must not be one from before it.
      this.#wanted.clear()
    }
    const id = this.#nextId++
    if (this.#waiting.size === 0) worker.ref()
    this.#waiting.set(id, waiting)
    const first = this.#outbox.push({ id, request }) === 1
    // A batch has gathered already, and should not wait until its callers' neighbours are done with their turn.
    if (isBatch(request)) this.#flush(worker)
    else if (first) setImmediate(() => this.#flush(worker))
  }

  /**
   * Sends what gathered for this worker. Nothing has if it died meanwhile: its callers have their answers. What
   * gathered
   * since then is for the next worker, which has a flush of its own.
   */
  #flush(worker: StorageWorker): void {
    if (this.#outbox.length === 0 || worker !== this.#worker) return
    const posted = this.#outbox
    this.#empty()
    worker.postMessage(posted, [])
  }

  #empty(): void {
    this.#outbox = []
    this.#wanted.clear()
  }

  #answered(replies: ReadonlyArray<Reply>): void {
    for (const reply of replies) {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      // The answer to a batch sends the next one, and its own callers are handed theirs in turns.
      if (waiting?.urgent === true && this.#inbox.length === 0) waiting.answer(reply)
      else {
        for (let one = waiting; one !== undefined; one = one.takeNext()) {
          one.reply = reply
          this.#inbox.push(one)
          queueTask(this.#handOut)
        }
      }
    }
    if (this.#waiting.size === 0) this.#worker?.unref()
  }

  /** One answer. None is left where the thread died meanwhile. */
  readonly #handOut = (): void => {
    this.#inbox.shift()?.answer()
  }

  #died(worker: StorageWorker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#lost = this.#open.file === inMemory
    const waiting = new Map(this.#waiting)
    this.#waiting.clear()
    this.#empty()
    // What it answered before it died stands.
    for (const one of this.#inbox.splice(0)) one.answer()
    for (const first of waiting.values()) {
      for (let one: Waiting | undefined = first; one !== undefined; one = one.takeNext())
        one.answer({ ok: false, fault: unavailable(`its thread died (${why})`, one.wrote) })
    }
  }
}

/** True for a request of many callers, who have waited for it to gather. */
const isBatch = ({ op }: WorkerRequest): boolean => op === "commit" || op === "limits"

/** Starts a thread. */
const threadWorker =
  (role: OpenRequest["role"]) =>
  ({ answered, died }: WorkerEvents): StorageWorker => {
    const cache = getCompileCacheDir()
    const worker = new Worker(threadBootstrap, {
      eval: true,
      execArgv: ["--disable-warning=ExperimentalWarning"],
      name: `flyball-storage-${role}`,
      workerData: {
        url: threadModule("sqlite-worker", import.meta.url),
        cache: cache === undefined ? null : dirname(cache)
      }
    })
    worker.unref()
    worker.on("message", answered)
    worker.on("error", (error: Error) => died(error.message))
    worker.on("exit", () => died("it stopped"))
    return worker
  }

/**
 * A caller that waits for an answer, and the others who wait for the same one. A class that is emptied, for the reason
 * in `group-commit.ts`.
 */
class Waiting {
  readonly wrote: "no" | "unknown"
  readonly urgent: boolean
  /** The reply; null until it has arrived. */
  reply: Outcome<unknown> | null = null
  #done: ((outcome: Outcome<unknown>) => void) | null
  #next: Waiting | undefined = undefined
  #last: Waiting = this

  constructor(request: WorkerRequest, done: (outcome: Outcome<unknown>) => void) {
    this.wrote = isWrite(request) ? "unknown" : "no"
    this.urgent = isBatch(request)
    this.#done = done
  }

  add(other: Waiting): void {
    const last = this.#last
    last.#next = other
    this.#last = other
  }

  /** The caller that is answered after this one; once. */
  takeNext(): Waiting | undefined {
    const next = this.#next
    this.#next = undefined
    this.#last = this
    return next
  }

  answer(outcome = this.reply): void {
    const done = this.#done
    this.#done = null
    this.reply = null
    if (outcome !== null) done?.(outcome)
  }
}
