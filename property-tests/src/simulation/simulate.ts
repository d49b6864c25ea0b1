/**
 * One run of the simulation: hosts that come and go, clients that want to be served, and a calm at the end in which
 * everything must come right.
 */
import { Breakers, EvidenceCrypto, Examiner, Reviews, StandingApprovals } from "@flyball/core"
import { memoryStorage } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { FaultBoard, faultKinds, type Pick, pickOf, seededSource, SignLog } from "@flyball/testkit"
import { Context, Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { acts } from "./acts.ts"
import { Agency } from "./agency.ts"
import { checkAll } from "./checkers/all.ts"
import type { Call, Client } from "./client.ts"
import type { Hop, Ports } from "./hop.ts"
import { Host, ORIGIN } from "./host.ts"
import { Ledger } from "./ledger.ts"
import { between } from "./review-acts.ts"
import { knownTargets, noteStatus, statusOfTarget } from "./kill-acts.ts"
import { leaping, sendingAll, SEND_MS } from "./leaps.ts"
import { optionsOfSeed, type SimulationOptions } from "./options.ts"
import { Receivers } from "./receivers.ts"
import { VirtualTime } from "./virtual-time.ts"
import { examinerOf, readerOf } from "./workroom.ts"
import { contextIn, openPorts } from "./world.ts"

/** Time by which replay accepts that a record's own time is before one that it states. Unit: milliseconds. */
const MOST_STEP_MS = 60_000

/** Result of a run. */
export interface SimulationResult {
  readonly options: SimulationOptions
  /** Problems that the checkers found; empty when all is well. */
  readonly problems: ReadonlyArray<string>
  /** SHA-256 over everything that happened: equal for equal seeds. */
  readonly digest: string
  readonly records: number
  readonly faults: number
  readonly restarts: number
  /** Requests that reached receivers of webhooks, and how many of them were not a first attempt. */
  readonly requests: number
  readonly retries: number
  readonly steps: number
  readonly answers: ReadonlyMap<string, number>
}

/** How a run is observed, or broken on purpose. */
export interface SimulationSettings {
  /** Sees each line of the trace. */
  readonly seen?: (line: string) => void
  /** Puts something else in the place of the ports: tests of the checkers break them. */
  readonly ports?: (real: Ports) => Ports
  /** Changes what the seed chose. */
  readonly options?: (chosen: SimulationOptions) => SimulationOptions
}

/** Far more than any run takes: one that is not over by then goes round in a circle. */
const MOST_STEPS = 1_000_000
/** Trouble ends after this long, whether clients are done or not. */
const TROUBLE_MS = 120_000
/** In the calm every question must be answered within this long. */
const ANSWER_MS = 300_000
/** Time in which the background alone must have signed for everything, once nothing is in its way. */
const CALM_MS = 30_000
/** Time in which executions that a killed host had taken up are taken up by another, and end. Unit: milliseconds. */
const FLOWS_MS = 300_000
/** Acts whose work goes on behind their answer, in jobs of the platform. */
const workedOn: ReadonlySet<string> = new Set(["start", "log", "position", "optimize", "extract"])
/**
 * After so long hours of positions are over, and plans and documents of hosts that died are given up, whatever the
 * store's clock has done. Unit: milliseconds.
 */
const HOURS_MS = 4 * 3_600_000
/** Two rounds of the jobs that end them. Unit: milliseconds. */
const ROUNDS_MS = 130_000
/** Far more reviews than any run opens. */
const MOST_REVIEWS = 10_000
/** How long a host that could not start waits before it tries again. */
const START_AGAIN_MS = 300

/** Runs the simulation of a seed. Same seed, same run. */
export const simulate = async (seed: number, settings: SimulationSettings = {}): Promise<SimulationResult> => {
  const { options: changed = (chosen) => chosen } = settings
  const options = changed(optionsOfSeed(seed))
  const run = new Run(options, settings)
  // What hosts that are killed leave on the disk goes with the run.
  const before = process.env["TMPDIR"]
  const folder = mkdtempSync(join(tmpdir(), "flyball-simulation-"))
  process.env["TMPDIR"] = folder
  try {
    const problems = await run.go()
    return run.result(problems)
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Everything of one run. */
class Run {
  readonly #options: SimulationOptions
  readonly #pick: Pick
  readonly #time: VirtualTime
  readonly #ledger = new Ledger()
  readonly #log = new SignLog()
  readonly #board: FaultBoard
  readonly #hosts: Array<Host | null>
  readonly #skews: Array<number>
  readonly #cutOff: Array<boolean>
  readonly #break: (real: Ports) => Ports
  readonly #receivers: Receivers
  readonly #agency: Agency
  #storeSkew = 0
  /** Time by which the clock leapt ahead: unlike its other steps this is not taken back. Unit: milliseconds. */
  #storeAheadMs = 0
  #calm = false
  #restarts = 0
  #records = 0
  #current = 0

  constructor(options: SimulationOptions, { ports = (real) => real, seen }: SimulationSettings) {
    this.#options = options
    this.#pick = pickOf(seededSource(`choices ${options.seed}`))
    this.#time = new VirtualTime(this.#pick, seen)
    this.#receivers = new Receivers(this.#pick, () => this.#calm)
    const isCalm = (): boolean => this.#calm
    const documents = { reader: readerOf(this.#pick, isCalm) }
    this.#agency = new Agency(this.#pick, isCalm, options.acts.includes("extract") ? { documents } : {})
    this.#hosts = Array.from({ length: options.hosts }, () => null)
    this.#skews = Array.from({ length: options.hosts }, () => this.#skew())
    this.#cutOff = Array.from({ length: options.hosts }, () => false)
    this.#break = (real) =>
      ports(options.leasesLie ? { ...real, storage: { ...real.storage, lease: () => Effect.succeed(true) } } : real)
    this.#board = new FaultBoard((point) => {
      if (this.#calm) return null
      const struck =
        this.#cutOff[this.#current] === true ||
        (options.faultPoints.includes(point) && this.#pick(1_000) < options.faultsPerMille)
      return struck ? faultKinds[this.#pick(faultKinds.length)]! : null
    })
  }

  /** Runs it to its end; answers what is wrong. */
  async go(): Promise<ReadonlyArray<string>> {
    const ports = await openPorts(
      memoryStorage({ crypto: nodeCrypto }),
      `${this.#options.seed} ports`,
      this.#log,
      Scope.makeUnsafe(),
      this.#break
    )
    const world = {
      ports,
      origin: ORIGIN,
      signed: this.#log.entries,
      ledger: this.#ledger,
      arrived: this.#receivers.arrived,
      agency: this.#agency,
      isClockSteady: this.#options.storeStepMs <= MOST_STEP_MS
    }
    const context = this.#context("world")
    try {
      await this.#time.until(Effect.runForkWith(context)(this.#trouble(ports)), MOST_STEPS)
      await this.#time.until(Effect.runForkWith(context)(this.#quiet(ports)), MOST_STEPS)
    } catch (error) {
      this.#ledger.problems.push(`the run: ${(error as Error).message}`)
    }
    // Outside of the world's time: nothing else happens meanwhile.
    const problems = await Effect.runPromise(checkAll(world).pipe(Effect.provideService(EvidenceCrypto, nodeCrypto)))
    const head = await Effect.runPromise(ports.storage.head)
    this.#records = (head?.seq ?? -1) + 1
    this.#time.note(`end ${this.#records} ${head === null ? "" : toHex(head.hash)}`)
    return problems
  }

  result(problems: ReadonlyArray<string>): SimulationResult {
    return {
      options: this.#options,
      problems,
      digest: this.#time.digest,
      records: this.#records,
      faults: this.#board.struck.length,
      restarts: this.#restarts,
      requests: this.#receivers.arrived.length,
      retries: this.#receivers.arrived.filter(({ attempt }) => attempt > 1).length,
      steps: this.#time.steps,
      answers: this.#ledger.answers
    }
  }

  #context(name: string, index?: number): Context.Context<never> {
    const context = contextIn(
      this.#time,
      `${this.#options.seed} ${name}`,
      this.#time.clock(index === undefined ? undefined : () => this.#skews[index]!)
    )
    if (!this.#options.acts.includes("optimize")) return context
    return Context.add(
      context,
      Examiner,
      examinerOf(this.#pick, () => this.#calm)
    )
  }

  #skew(): number {
    const { skewMs } = this.#options
    return skewMs === 0 ? 0 : this.#pick(2 * skewMs + 1) - skewMs
  }

  /** Clients at work while hosts and clocks and the network do as they do. */
  #trouble(ports: Ports): Effect.Effect<void> {
    const { actsPerClient, clients } = this.#options
    return Effect.gen({ self: this }, function* () {
      yield* Effect.forEach(this.#hosts, (_, index) => Effect.forkDetach(this.#supervise(ports, index)), {
        discard: true
      })
      yield* Effect.forkDetach(this.#clocks)
      yield* Effect.forkDetach(this.#outages)
      yield* Effect.forkDetach(
        leaping({ pick: this.#pick, everyMs: this.#options.leapEveryMs, isCalm: () => this.#calm, leap: this.#leap })
      )
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep(TROUBLE_MS), this.#settle))
      const lives = Array.from({ length: clients }, (_, index) => this.#live(this.#client(index), actsPerClient))
      yield* Effect.all(lives, { concurrency: "unbounded", discard: true }).pipe(
        Effect.timeoutOrElse({
          duration: TROUBLE_MS + ANSWER_MS,
          orElse: () =>
            Effect.sync(
              () =>
                void this.#ledger.problem(
                  `clients: ${ANSWER_MS / 1_000} s of calm, and somebody still waits for an answer`
                )
            )
        })
      )
      yield* this.#settle
    })
  }

  /** Nothing goes wrong any more. */
  readonly #settle: Effect.Effect<void> = Effect.sync(() => {
    if (!this.#calm) this.#time.note("calm")
    this.#calm = true
  })

  /** In the calm the background must sign for everything by itself; then all hosts stop in order. */
  #quiet(ports: Ports): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.#hosts.some((host) => host?.serves !== true)) yield* Effect.sleep(START_AGAIN_MS)
      // What webhooks are owed is recorded in the calm as well.
      if (this.#options.webhooks) yield* Effect.sleep(CALM_MS)
      if (this.#options.acts.includes("start")) yield* Effect.sleep(FLOWS_MS)
      if (this.#options.acts.some((act) => act === "position" || act === "optimize" || act === "extract")) {
        this.#leap(HOURS_MS)
        yield* Effect.sleep(ROUNDS_MS)
      }
      const head = yield* Effect.orDie(ports.storage.head)
      yield* Effect.sleep(CALM_MS)
      const held = yield* Effect.orDie(ports.guard.read)
      if ((held?.size ?? 0) <= (head?.seq ?? -1))
        this.#ledger.problems.push(
          `signing: ${CALM_MS / 1_000} s of calm, and of ${(head?.seq ?? -1) + 1} records ${held?.size ?? 0} ` +
            "are signed for"
        )
      if (this.#options.webhooks) yield* sendingAll(ports.storage, this.#leap)
      if (this.#options.acts.includes("activate")) yield* this.#lastStatuses()
      if (this.#options.acts.includes("arm")) yield* this.#lastBreakers(ports)
      if (this.#options.acts.includes("request")) yield* this.#lastReviews()
      yield* Effect.forEach(this.#hosts, (host) => host?.stop() ?? Effect.void, { discard: true })
      yield* this.#sendLast(ports)
    })
  }

  /** In the end every host says of every target what the records say. */
  #lastStatuses(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (const [index, host] of this.#hosts.entries())
        for (const target of knownTargets(this.#ledger)) {
          const floor = this.#ledger.killEpoch
          const ended = yield* host!.call(statusOfTarget(target), false)
          if (ended !== null && Exit.isSuccess(ended)) noteStatus(this.#ledger, `host ${index}`, floor, ended.value)
          else this.#ledger.problem(`kill: host ${index} does not answer the status of ${target.id}`)
        }
    })
  }

  /** In the end every host says of every breaker what the records say. */
  #lastBreakers(ports: Ports): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agentId = this.#ledger.agents.get("governed")
      if (agentId === undefined) return
      const head = Effect.map(Effect.orDie(ports.storage.head), (found) => found?.seq ?? -1)
      for (const [index, host] of this.#hosts.entries()) {
        const before = yield* head
        const ended = yield* host!.call(
          Breakers.use((breakers) => breakers.list(agentId)),
          false
        )
        if (ended === null || !Exit.isSuccess(ended))
          this.#ledger.problem(`breakers: host ${index} does not list those of ${agentId}`)
        else this.#ledger.breakerLists.push({ by: `host ${index}`, before, after: yield* head, shown: ended.value })
      }
    })
  }

  /** In the end every host says of every review and standing approval what the records say. */
  #lastReviews(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#hosts[0]!.call(
        Reviews.use((reviews) => reviews.sweep),
        false
      )
      for (const [index, host] of this.#hosts.entries()) {
        const by = `host ${index}`
        const reviews = yield* host!.call(between(Reviews.use(({ list }) => list({ limit: MOST_REVIEWS }))), false)
        const standings = yield* host!.call(between(StandingApprovals.use(({ list }) => list())), false)
        if (reviews === null || !Exit.isSuccess(reviews) || standings === null || !Exit.isSuccess(standings))
          this.#ledger.problem(`reviews: ${by} does not list them`)
        else {
          this.#ledger.reviewsListed.push({ by, ...reviews.value })
          this.#ledger.standingLists.push({ by, ...standings.value })
        }
      }
    })
  }

  /** Starts a host, again and again. */
  #supervise(ports: Ports, index: number): Effect.Effect<void> {
    const { killsPercent, restartEveryMs } = this.#options
    return Effect.gen({ self: this }, function* () {
      for (let life = 0; ; life++) {
        const host = new Host(this.#context(`host ${index} life ${life}`, index))
        this.#hosts[index] = host
        const mortal = !this.#calm && restartEveryMs > 0
        const killed = this.#pick(100) < killsPercent
        const end = mortal ? Effect.sleep(1 + this.#pick(2 * restartEveryMs)) : Effect.never
        // A kill may come while it still opens; an orderly stop comes when it serves.
        if (killed)
          yield* Effect.forkDetach(
            Effect.andThen(
              end,
              Effect.sync(() => (this.#calm ? undefined : host.kill()))
            )
          )
        const opened = yield* host.open(
          ports,
          this.#hop(index),
          this.#options.webhooks ? { receivers: this.#receivers } : null,
          this.#options.acts.some((act) => workedOn.has(act)) ? this.#agency : null
        )
        this.#time.note(`host ${index} life ${life}: ${opened === null ? "killed while it opened" : opened._tag}`)
        if (opened !== null && Exit.isFailure(opened)) {
          const reason = opened.cause.reasons.find((one) => one._tag === "Fail")?.error
          if (reason?._tag !== "StorageUnavailable")
            this.#ledger.problems.push(`start: ${reason?.message ?? String(opened.cause)}`)
        }
        if (opened !== null && Exit.isSuccess(opened)) {
          if (killed) {
            while (host.serves) yield* Effect.sleep(START_AGAIN_MS)
          } else {
            yield* end
            if (this.#calm) return
            yield* host.stop()
          }
        }
        host.kill()
        if (mortal) this.#restarts += 1
        this.#time.note(`host ${index} is down`)
        yield* Effect.sleep(1 + this.#pick(START_AGAIN_MS))
      }
    })
  }

  #hop(index: number): Hop {
    return {
      pick: this.#pick,
      callMs: () => (this.#calm ? 0 : this.#options.callMs),
      stallsPerMille: () => (this.#calm ? 0 : this.#options.stallsPerMille),
      board: this.#board,
      busy: (calls) => this.#time.wait(calls),
      clock: this.#time.clock(() => this.#storeSkew + this.#storeAheadMs),
      note: (text) => this.#time.note(`host ${index} ${text}`),
      turn: () => {
        this.#current = index
      }
    }
  }

  /** Clocks that step: a host's either way, the store's too where it may. */
  readonly #clocks: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { stepEveryMs, storeStepMs } = this.#options
    if (stepEveryMs === 0) return
    while (!this.#calm) {
      yield* Effect.sleep(1 + this.#pick(2 * stepEveryMs))
      const index = this.#pick(this.#skews.length + 1)
      if (index < this.#skews.length) this.#skews[index] = this.#skew()
      else if (storeStepMs > 0) this.#storeSkew = this.#pick(2 * storeStepMs + 1) - storeStepMs
      this.#time.note(`clock ${index} steps`)
    }
  })

  readonly #leap = (leapMs: number): void => {
    this.#storeAheadMs += leapMs
    this.#time.note(`the store's clock leaps ${leapMs}`)
  }

  /** Hosts that stop sign once more, which causes an event: the next host sends it. */
  #sendLast(ports: Ports): Effect.Effect<void> {
    if (!this.#options.webhooks) return Effect.void
    return Effect.gen({ self: this }, function* () {
      const last = new Host(this.#context("last host"))
      const opened = yield* last.open(ports, this.#hop(0), { receivers: this.#receivers })
      if (opened !== null && Exit.isFailure(opened)) this.#ledger.problems.push(`start: ${String(opened.cause)}`)
      yield* Effect.sleep(SEND_MS)
      yield* sendingAll(ports.storage, this.#leap)
      last.kill()
    })
  }

  /** Times when a host cannot reach its ports. */
  readonly #outages: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { outageEveryMs } = this.#options
    if (outageEveryMs === 0) return
    while (!this.#calm) {
      yield* Effect.sleep(1 + this.#pick(2 * outageEveryMs))
      const index = this.#pick(this.#cutOff.length)
      this.#cutOff[index] = true
      this.#time.note(`host ${index} is cut off`)
      yield* Effect.sleep(1 + this.#pick(outageEveryMs))
      this.#cutOff[index] = false
    }
  })

  #client(index: number): Client {
    const { patienceMs } = this.#options
    const call: Call = (effect) =>
      Effect.suspend(() => {
        const serving = this.#hosts.filter((host) => host?.serves === true)
        const host = serving[this.#pick(Math.max(1, serving.length))]
        if (host === undefined || host === null) return Effect.succeed(null)
        if (patienceMs === 0 || this.#calm) return host.call(effect, false)
        // Who stops waiting hangs up, and the host notices or does not.
        return host
          .call(effect, this.#pick(2) === 0)
          .pipe(Effect.timeoutOrElse({ duration: 1 + this.#pick(2 * patienceMs), orElse: () => Effect.succeed(null) }))
      })
    return { name: `c${index}`, pick: this.#pick, ledger: this.#ledger, call, note: (text) => this.#time.note(text) }
  }

  #live(client: Client, turns: number): Effect.Effect<void> {
    const { acts: names, thinkMs } = this.#options
    return Effect.gen({ self: this }, function* () {
      for (let turn = 0; turn < turns; turn++) {
        if (thinkMs > 0) yield* Effect.sleep(this.#pick(thinkMs))
        yield* acts[names[this.#pick(names.length)]!](client, turn)
      }
    })
  }
}
