/**
 * The host of the benchmark `eventloop`, as a process of its own: `node benchmarks/eventloop-host.ts FILE DIR RATE
 * worker|host`.
 *
 * It embeds a governor on a SQLite file, is idle and then captures at a fixed rate, in turn, and prints one line of
 * JSON. With `host` the same storage
 * code runs on this thread instead of a worker's: what the worker is for.
 */
import { EventEmitter } from "node:events"
import { syncBuiltinESMExports } from "node:module"
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import workerThreads, { type WorkerOptions } from "node:worker_threads"
import { decisionAt } from "./decisions.ts"
import { quantile } from "./harness.ts"

/** Result of one run. Milliseconds. */
export interface HostReport {
  readonly waits: number
  readonly acknowledged: number
  readonly idle: Delays
  readonly busy: Delays
  readonly ackP50Ms: number
  readonly ackP99Ms: number
  /** The turns of the busy host that took most processor time, longest first. */
  readonly longest: ReadonlyArray<Turn>
}

/** Work between two ticks of the probe. */
export interface Turn {
  readonly ownMs: number
  /** Of the clock, not of the processor: its helpers may have had to wait for one. */
  readonly collectorMs: number
}

/** How late the event loop was. */
export interface Delays {
  /** By `monitorEventLoopDelay`, less its own millisecond. */
  readonly monitorP99Ms: number
  /** By a timer of 1 ms; a stop counts for every tick that should have been in it. */
  readonly probeP99Ms: number
  /**
   * Processor time that this thread used between two ticks of that timer, counted the same way: what the delay would be
   * with a processor to itself.
   */
  readonly ownP99Ms: number
  readonly ownMaxMs: number
  readonly maxMs: number
}

/** Measurements of a probe. */
interface Probed {
  readonly lateMs: Array<number>
  readonly ownMs: Array<number>
  readonly turns: Array<{ readonly fromMs: number; readonly toMs: number; readonly ownMs: number }>
}

const [file, dir, rateText, where] = process.argv.slice(2) as [string, string, string, "worker" | "host"]
const RATE = Number(rateText)
const WAIT_MS = 10
/** Decisions come in bursts, as those of agents do. */
const BURST_MS = 5
const ROUNDS = 4
const IDLE_MS = 2_500
const BUSY_MS = 5_000
/** Turns that are reported. */
const LONGEST = 20
const waits = new Int32Array(new SharedArrayBuffer(4))

const slowUrl = new URL("./eventloop-worker.ts", import.meta.url).href
const RealWorker = workerThreads.Worker

/** Starts what the storage asks for with the slow worker in its place. */
class SlowWorker extends RealWorker {
  constructor(script: string, options: WorkerOptions) {
    super(script, {
      ...options,
      workerData: { ...options.workerData, url: slowUrl, realUrl: options.workerData.url, waits, waitMs: WAIT_MS }
    })
  }
}

/** A worker that is none: the same code in a module of its own on this thread. */
class NoWorker extends EventEmitter {
  readonly #port = Object.assign(new EventEmitter(), {
    postMessage: (reply: unknown) => void setImmediate(() => this.emit("message", reply))
  })
  static #made = 0
  static #last: Promise<unknown> = Promise.resolve()
  readonly #ready: Promise<unknown>

  constructor(_script: string, { workerData }: WorkerOptions) {
    super()
    // One after another: each module takes the port that is there when it is loaded.
    this.#ready = NoWorker.#last = NoWorker.#last.then(async () => {
      Object.assign(workerThreads, {
        parentPort: this.#port,
        workerData: { realUrl: `${workerData.url}?${NoWorker.#made}`, waits, waitMs: WAIT_MS }
      })
      syncBuiltinESMExports()
      await import(`${slowUrl}?${NoWorker.#made++}`)
    })
  }

  postMessage(message: unknown): void {
    void this.#ready.then(() => setImmediate(() => this.#port.emit("message", message)))
  }
  ref(): void {}
  unref(): void {}
  async terminate(): Promise<number> {
    return 0
  }
}

/** The copier keeps its thread: the writer waits for it, which no thread can do for itself. */
const WorkerOnHost = function (script: string, options: WorkerOptions): object {
  return options.name === "flyball-storage-copier" ? new RealWorker(script, options) : new NoWorker(script, options)
}

Object.assign(workerThreads, { Worker: where === "worker" ? SlowWorker : WorkerOnHost })
syncBuiltinESMExports()
const { openGovernor } = await import("@flyball/core")
const { dataFolder } = await import("@flyball/node")
const { sqliteStorage } = await import("@flyball/storage-sql")

/**
 * Processor time of this thread so far. Asking for the process's first brings the thread's up to date: else it is what
 * it was when the thread was last put off, up to 4 ms ago.
 */
const usedMs = (): number => {
  process.cpuUsage()
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

const collections: Array<{ readonly startTime: number; readonly duration: number }> = []
new PerformanceObserver((list) => void collections.push(...list.getEntries())).observe({ entryTypes: ["gc"] })

/** The longest, and how long the collector had each. */
const longestOf = (turns: Probed["turns"]): ReadonlyArray<Turn> =>
  turns
    .toSorted((a, b) => b.ownMs - a.ownMs)
    .slice(0, LONGEST)
    .map(({ fromMs, ownMs, toMs }) => ({
      ownMs,
      collectorMs: collections
        .filter(({ startTime }) => startTime >= fromMs && startTime < toMs)
        .reduce((sum, { duration }) => sum + duration, 0)
    }))

/** Measures the delay of the event loop while `body` runs. */
const delaysDuring = async (
  body: () => Promise<unknown>,
  { lateMs, ownMs, turns }: Probed
): Promise<{ readonly monitorMs: number; readonly maxMs: number }> => {
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  let dueAt = performance.now() + 1
  let used = usedMs()
  let sinceMs = performance.now()
  let timer = setTimeout(function tick() {
    const now = performance.now()
    for (let late = now - dueAt; late >= 0; late -= 1) lateMs.push(late)
    const own = usedMs() - used
    for (let left = own; left >= 0; left -= 1) ownMs.push(left)
    if (own > 1) turns.push({ fromMs: sinceMs, toMs: now, ownMs: own })
    used = usedMs()
    sinceMs = now
    dueAt = now + 1
    timer = setTimeout(tick, 1)
  }, 1)
  monitor.enable()
  await body()
  monitor.disable()
  clearTimeout(timer)
  return { monitorMs: monitor.percentile(99) / 1e6 - 1, maxMs: monitor.max / 1e6 - 1 }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const governor = await openGovernor({
  storage: sqliteStorage({ file }),
  keys: dataFolder({ dir, origin: "flyball.example/bench" })
})
const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
let made = 0
const acks: Array<number> = []

/** Offers decisions by the clock, whatever became of those before: a host that is stopped does not stop its agents. */
const capture = async (ms: number): Promise<void> => {
  // Made as they are offered, and their promises not kept: all of them at once, before or after, would be a turn of
  // this benchmark's own.
  const count = (RATE * ms) / 1_000
  const startedAt = performance.now()
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve, reject) => {
    const bursts = setInterval(() => {
      const now = performance.now()
      const due = Math.min(count, Math.floor(((now - startedAt) * RATE) / 1_000))
      for (; sent < due; sent++) {
        governor.witness(agent.id, [decisionAt(made++)]).then(() => {
          acks.push(performance.now() - now)
          if (++answered === count) resolve()
        }, reject)
      }
      if (sent === count) clearInterval(bursts)
    }, BURST_MS)
  })
}

// Warm: code that is compiled once is no part of a sustained rate.
await capture(BUSY_MS)
acks.length = 0
Atomics.store(waits, 0, 0)
const idleProbe: Probed = { lateMs: [], ownMs: [], turns: [] }
const busyProbe: Probed = { lateMs: [], ownMs: [], turns: [] }
const idle: Array<{ readonly monitorMs: number; readonly maxMs: number }> = []
const busy: Array<{ readonly monitorMs: number; readonly maxMs: number }> = []
for (let round = 0; round < ROUNDS; round++) {
  idle.push(await delaysDuring(() => sleep(IDLE_MS), idleProbe))
  busy.push(await delaysDuring(() => capture(BUSY_MS), busyProbe))
}
await governor.close()

const delaysOf = (rounds: typeof idle, { lateMs, ownMs }: Probed): Delays => ({
  // The worst round: a p99 of four rounds is met when each of them meets it.
  monitorP99Ms: Math.max(...rounds.map(({ monitorMs }) => monitorMs)),
  probeP99Ms: quantile(lateMs, 0.99),
  ownP99Ms: quantile(ownMs, 0.99),
  ownMaxMs: ownMs.reduce((most, one) => Math.max(most, one), 0),
  maxMs: Math.max(...rounds.map(({ maxMs }) => maxMs))
})
const report: HostReport = {
  waits: Atomics.load(waits, 0),
  acknowledged: acks.length,
  idle: delaysOf(idle, idleProbe),
  busy: delaysOf(busy, busyProbe),
  ackP50Ms: quantile(acks, 0.5),
  ackP99Ms: quantile(acks, 0.99),
  longest: longestOf(busyProbe.turns)
}
console.log(JSON.stringify(report))
process.exit(0)
