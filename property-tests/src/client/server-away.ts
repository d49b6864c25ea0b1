/**
 * A client whose server is away, with decisions that come by the clock until long after its spool is full: what that
 * costs the host. The client's clock runs faster than the world's, so that an hour of retries, polls and losses takes a
 * minute; the load is per second of the world.
 */
import { type Client, type ClientClock, memorySpool, openClient, type Problem, type Spool } from "@flyball/client"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** A round. */
export interface AwayRound {
  /** How long the server is away on the client's clock. Unit: milliseconds. */
  readonly awayMs: number
  /** How many times faster than the world's the client's clock runs. */
  readonly speed: number
  /** Decisions a second of the world. */
  readonly perSecond: number
  /** Bytes of the arguments of a decision. */
  readonly argumentBytes: number
  readonly spool?: Spool
}

/** Result of a run. Times in milliseconds, memory in bytes. */
export interface AwayOutcome {
  readonly offered: number
  readonly pending: number
  /** Decisions that the spool had no room for, as the owed gap counts them. */
  readonly lost: number
  /** Share of the time, 0 to 1, in which the spool was full. */
  readonly fullShare: number
  /** Delay of the event loop beyond its due time, once the spool is full. */
  readonly p99Ms: number
  readonly maxMs: number
  /** The same before the server went away, with no decision: the machine's own. */
  readonly idleP99Ms: number
  /** Heap in use after a collection: before the first decision, and at the end. */
  readonly heapBefore: number
  readonly heapAfter: number
  readonly requests: number
}

/** How long the event loop is watched before. Unit: milliseconds. */
const IDLE_MS = 1_000

/** Runs a round. The server answers nothing: each connection is refused at once. */
export const awayRound = async (round: AwayRound): Promise<AwayOutcome> => {
  const { argumentBytes, awayMs, perSecond, speed } = round
  let isAway = false
  let requests = 0
  const problems = { lost: 0 }
  const spool = round.spool ?? memorySpool()
  const fetch = (async (input) => {
    if (isAway) {
      requests++
      throw new TypeError("fetch failed")
    }
    if (String(input).includes("/kill/stream")) throw new TypeError("fetch failed")
    if (String(input).includes("/kill/status")) return answer({ ...status })
    return answer([{ id: "agt_1", name: "bot" }])
  }) as typeof globalThis.fetch
  const client: Client = openClient({
    url: "http://flyball.test",
    key: "k",
    fetch,
    spool,
    clock: fasterClock(speed),
    onProblem: (problem: Problem) => {
      if (problem.kind === "lost") problems.lost += problem.count
    }
  })
  const agent = await client.register({ name: "bot" })
  const idle = monitorEventLoopDelay({ resolution: 1 })
  idle.enable()
  for (const untilMs = performance.now() + IDLE_MS; performance.now() < untilMs;)
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
  idle.disable()
  isAway = true
  /** Makes arguments of its own for each decision, as a host's have. */
  const argsOf = (number: number) => ({ text: String(number).padEnd(argumentBytes, "x") })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const heapBefore = heapInUse()
  const startedMs = performance.now()
  const realMs = awayMs / speed
  let offered = 0
  let isFullSince: number | null = null
  while (performance.now() - startedMs < realMs) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond)
    for (; offered < due; offered++)
      await agent.witness({ action: "note", kind: "message", status: "ok", args: argsOf(offered) })
    if (isFullSince === null && problems.lost > 0) {
      isFullSince = performance.now()
      delay.enable()
    }
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
  }
  delay.disable()
  const endedMs = performance.now()
  const outcome = {
    offered,
    pending: client.pending(),
    lost: problems.lost,
    fullShare: isFullSince === null ? 0 : (endedMs - isFullSince) / (endedMs - startedMs),
    // The timer of the monitor is due after a millisecond; what is more is delay.
    p99Ms: delay.percentile(99) / 1e6 - 1,
    idleP99Ms: idle.percentile(99) / 1e6 - 1,
    maxMs: delay.max / 1e6 - 1,
    heapBefore,
    heapAfter: heapInUse(),
    requests
  }
  await client.close()
  return outcome
}

const status = {
  target_type: "agent",
  target_id: "agt_1",
  halted: false,
  drill: false,
  activation_event: null,
  effective_response: null,
  epoch: 1,
  origin: "a/b"
}

const answer = (json: unknown): Response => new Response(JSON.stringify(json), { status: 200 })

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const heapInUse = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

/** A clock that runs faster than the world's. */
const fasterClock = (speed: number): ClientClock => ({
  monotonicMs: () => performance.now() * speed,
  nowMs: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms / speed)
    return () => clearTimeout(timer)
  },
  random: () => Math.random()
})
