/** The threads behind one SQLite store, as a scoped resource, and calling them from Effect. */
import type { ReadFault } from "@flyball/core/storage"
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import type { Fault } from "../answers.ts"
import { inMemory } from "../layout.ts"
import { optionsProblem } from "../options-problem.ts"
import type { AnswerTo, WorkerRequest } from "./protocol.ts"
import type { Outcome } from "./worker-thread.ts"
import { WorkerThread } from "./worker-thread.ts"

/** Options for opening a SQLite store. */
export interface SqliteOptions {
  /** Path of the database file, made if it does not exist; `:memory:` for one that is gone when it is closed. */
  readonly file: string
  /**
   * How long to wait for another process that is just closing the file.
   *
   * - Unit: milliseconds. Default 1,000.
   */
  readonly busyTimeoutMs?: number | undefined
  /** Opens the file for reading only, beside the process that writes it. `commit` and `lease` are then refused. */
  readonly readOnly?: boolean | undefined
  /**
   * For a process that does one thing at a time and should take little memory: reads and writes happen in its own
   * thread, which they hold up, with little cache. Default false.
   */
  readonly small?: boolean | undefined
}

/**
 * The reading and the writing thread. For `:memory:`, and for a small store, they are the same; `writer` is null for a
 * store that is open for reading only.
 */
export interface Threads {
  readonly reader: WorkerThread
  readonly writer: WorkerThread | null
}

const defaultBusyTimeoutMs = 1000

/** Fails with what is wrong with the options. */
export const requireUsable = (options: SqliteOptions): Effect.Effect<void, StorageUnavailable> =>
  Effect.suspend(() => {
    const problem = optionsProblem(options)
    return problem === null ? Effect.void : Effect.fail(new StorageUnavailable({ reason: problem, wrote: "no" }))
  })

/**
 * Opens the threads; closing the scope closes the database.
 *
 * Both threads start at once, and the reader opens when the writer has made the file what it should be.
 *
 * - Fails: `StorageUnavailable` with a sentence where the options cannot be meant; no thread is started then, and no
 *   file made.
 */
export const openThreads = Effect.fnUntraced(function* (options: SqliteOptions) {
  yield* requireUsable(options)
  const threads = yield* Effect.acquireRelease(
    Effect.sync(() => boot(options)),
    close
  )
  if (threads.writer !== null) yield* open(threads.writer, options.file)
  if (threads.reader !== threads.writer) yield* open(threads.reader, options.file)
  return threads
})

const boot = ({ file, busyTimeoutMs = defaultBusyTimeoutMs, readOnly, small = false }: SqliteOptions): Threads => {
  const started = (role: "writer" | "reader" | "both"): WorkerThread => {
    const thread = new WorkerThread({ op: "open", role, file, busyTimeoutMs, small })
    thread.boot()
    return thread
  }
  if (file !== inMemory && readOnly !== true && small) {
    const one = started("both")
    return { reader: one, writer: one }
  }
  if (file !== inMemory) return { writer: readOnly === true ? null : started("writer"), reader: started("reader") }
  const both = started("both")
  return { reader: both, writer: both }
}

/** The writer goes last: the last connection copies the log back and removes it. */
const close = ({ reader, writer }: Threads): Effect.Effect<void> =>
  Effect.promise(async () => {
    await reader.close()
    await writer?.close()
  })

const open = (thread: WorkerThread, file: string): Effect.Effect<void, ReadFault> =>
  Effect.mapError(
    Effect.asVoid(Effect.callback<null, ReadFault>((resume) => thread.open((outcome) => resume(effectOf(outcome))))),
    (error) =>
      error._tag === "StorageUnavailable"
        ? new StorageUnavailable({ reason: `${file} was not opened: ${error.reason}`, wrote: error.wrote })
        : error
  )

/**
 * Asks a storage worker. An interrupted caller continues at once; the request runs to its end and its answer is
 * dropped.
 */
export const call = <Op extends WorkerRequest["op"]>(
  thread: WorkerThread,
  request: Extract<WorkerRequest, { readonly op: Op }>
): Effect.Effect<AnswerTo<Op>, ReadFault> =>
  Effect.callback((resume) => thread.send<Op>(request, (outcome) => resume(effectOf(outcome))))

/** The error of the port that a fault stands for; a plain `Error` is a defect. */
export const errorOf = (fault: Fault): ReadFault | Error => {
  switch (fault._tag) {
    case "Unavailable":
      return new StorageUnavailable({ reason: fault.reason, wrote: fault.wrote })
    case "Corrupt":
      return new StorageCorrupt({ reason: fault.reason })
    case "Defect":
      return new Error(fault.reason)
  }
}

const effectOf = <A>(outcome: Outcome<A>): Effect.Effect<A, ReadFault> => {
  if (outcome.ok) return Effect.succeed(outcome.value)
  const error = errorOf(outcome.fault)
  return error instanceof StorageUnavailable || error instanceof StorageCorrupt ? Effect.fail(error) : Effect.die(error)
}
