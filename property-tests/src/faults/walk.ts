/** One governor, one client, one script, one fault: and everything that must hold afterwards. */
import { Capture, Chain, EvidenceCrypto, IngestKeys } from "@flyball/core"
import { Storage, type StorageChoice, WEBHOOKS } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { FaultBoard, type FaultPlan, SignLog } from "@flyball/testkit"
import { Clock, Effect, Exit, Scope } from "effect"
import { type ActName, acts } from "../simulation/acts.ts"
import { checkAll } from "../simulation/checkers/all.ts"
import { ask, type Client } from "../simulation/client.ts"
import type { Hop, Ports } from "../simulation/hop.ts"
import { Host, ORIGIN, type Sending } from "../simulation/host.ts"
import { Ledger } from "../simulation/ledger.ts"
import { owedDeliveries } from "../simulation/owed.ts"
import { Receivers } from "../simulation/receivers.ts"
import { VirtualTime } from "../simulation/virtual-time.ts"
import { contextIn, openPorts } from "../simulation/world.ts"

/** Result of a walk past one fault. */
export interface Walked {
  readonly board: FaultBoard
  readonly ledger: Ledger
  /** Problems that the checkers found; empty when there are none. */
  readonly problems: ReadonlyArray<string>
}

/**
 * The client's choice among earlier items: the last of everything (batches of three, references of its own, the last
 * decision), the first, or the one at this number.
 */
type Choice = "last" | number

/**
 * Script of a client: each act, its turn number, and its choice. A turn number that is repeated sends the same content
 * again.
 */
type Script = ReadonlyArray<readonly [ActName, number, Choice?]>

/** The scripts: three short ones, since each is walked once for every fault on its way. */
export const scripts = {
  capture: [
    ["register", 0],
    ["witness", 1],
    ["witness", 2],
    ["settle", 3],
    ["erase", 4],
    ["witness", 1],
    ["mint", 5],
    ["revoke", 6],
    ["meet", 7],
    ["gap", 8],
    ["announce", 9],
    ["sign", 10],
    ["export", 11],
    ["witness", 12],
    ["settle", 13],
    ["export", 14, 0],
    ["erase", 15],
    ["sign", 16]
  ],
  governed: [
    ["govern", 0, 0],
    ["waive", 1],
    ["evaluate", 2, 3],
    ["evaluate", 3],
    ["evaluate", 2, 3],
    ["account", 4, 0],
    ["evaluate", 5, 200],
    ["void", 6],
    ["govern", 7, 1],
    ["evaluate", 8],
    ["sign", 9]
  ],
  // A receiver that is well and wants everything, and one that never is. What arrived is owed again; the rest is tried
  // until it is given up, switched on, and made good.
  webhooks: [
    ["subscribe", 0, 0],
    ["subscribe", 1],
    ["register", 2],
    ["mint", 3],
    ["redeliver", 4, 0],
    ["redeliver", 5, 1],
    ["redeliver", 5, 1],
    ["redeliver", 5, 1],
    ["redeliver", 5, 1],
    ["redeliver", 5, 1],
    ["redeliver", 5, 1],
    ["switch", 6, 1],
    ["recover", 7, 1],
    ["switch", 8]
  ]
} satisfies { readonly [name: string]: Script }

/** The name of a script. */
export type ScriptName = keyof typeof scripts

/** Steps of a walk that goes round in a circle. */
const MOST_STEPS = 200_000
/** The host's background polls once more before it stops. */
const AFTERWARDS_MS = 15_000
/** Time to send what an act brought about. */
const SEND_MS = 100
/** Slow polls keep the calls few; a lease ends soon, so that a lost claim is found again. */
const engine = { pollMs: 4_000, leaseMs: 9_000 }
/** Twice what lies between the last two attempts, and far less than the sweep keeps. */
const LEAP_MS = 49 * 3_600_000
/** How long finished deliveries are kept. Unit: milliseconds. */
const KEPT_MS = 30 * 86_400_000
/** Longer than the sweep keeps what is over. */
const FORGET_MS = 40 * 86_400_000
/** Far more leaps than seven attempts need, and a fault beside. */
const MOST_LEAPS = 12
const START_AGAIN_MS = 300

/** Walks through the script under a plan, on a store of its own. */
export const walk = async (choice: StorageChoice, plan: FaultPlan, script: ScriptName = "capture"): Promise<Walked> => {
  const time = new VirtualTime(() => 0)
  const log = new SignLog()
  const ledger = new Ledger()
  const board = new FaultBoard(plan)
  const receivers = new Receivers(
    () => 0,
    () => true
  )
  const ahead = { ms: 0 }
  const scope = Scope.makeUnsafe()
  try {
    const ports = await openPorts(choice, "walk", log, scope)
    const hop: Hop = {
      pick: () => 0,
      callMs: () => 0,
      stallsPerMille: () => 0,
      board,
      busy: (calls) => time.wait(calls),
      clock: time.clock(() => ahead.ms),
      note: () => {},
      turn: () => {}
    }
    const check = checkAll({
      ports,
      origin: ORIGIN,
      signed: log.entries,
      ledger,
      arrived: receivers.arrived,
      agency: null,
      isClockSteady: true
    }).pipe(Effect.provideService(EvidenceCrypto, nodeCrypto))
    await time.until(
      Effect.runForkWith(contextIn(time, "world"))(
        live({
          time,
          ports,
          hop,
          ledger,
          ahead,
          check,
          script,
          sends: script === "webhooks" ? { receivers, engine, settings: { keepMs: KEPT_MS } } : null
        })
      ),
      MOST_STEPS
    )
    return { board, ledger, problems: [...ledger.problems] }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

interface World {
  readonly time: VirtualTime
  readonly ports: Ports
  readonly hop: Hop
  readonly ledger: Ledger
  /** How far the store's clock has leapt ahead, where the store has none of its own. */
  readonly ahead: { ms: number }
  readonly sends: Sending | null
  readonly script: ScriptName
  readonly check: Effect.Effect<ReadonlyArray<string>, unknown>
}

const live = Effect.fnUntraced(function* (world: World) {
  const { check, hop, ledger, script, sends } = world
  const host = yield* started(world)
  const client = (name: string, choice: Choice): Client => ({
    name,
    pick: (bound) => (choice === "last" ? bound - 1 : Math.min(choice, bound - 1)),
    ledger,
    call: (effect) => host.call(effect, false),
    note: () => {}
  })
  for (const [name, turn, choice = "last"] of scripts[script] as Script) {
    yield* acts[name](client("walker", choice), turn)
    if (sends !== null) yield* Effect.sleep(SEND_MS)
  }
  yield* read(client("reader", "last"), ledger)
  yield* Effect.sleep(AFTERWARDS_MS)
  if (sends === null) yield* host.stop()
  else yield* sendAll(world, host)
  const problems = yield* outside(hop, check)
  ledger.problems.splice(
    0,
    ledger.problems.length,
    ...problems.filter((problem) => hasOurTime(world) || !problem.includes(" is still "))
  )
  if (sends !== null) yield* forget(world)
})

/** Stores have a time of their own: the world waits for its own reads. */
const outside = <A>(hop: Hop, read: Effect.Effect<A, unknown>): Effect.Effect<A> =>
  Effect.suspend(() => {
    hop.busy(1)
    return Effect.ensuring(
      Effect.orDie(Effect.provideService(read, Clock.Clock, hop.clock)),
      Effect.sync(() => hop.busy(-1))
    )
  })

/** Other stores commit by a clock that does not leap with ours: what waits for a time waits there still. */
const hasOurTime = ({ ports }: World): boolean => ports.storage.backend === "memory"

/**
 * Everything that is owed comes to its end, and then the host dies. One that stops in order signs once more, and would
 * owe that as well.
 */
const sendAll = Effect.fnUntraced(function* (world: World, first: Host) {
  const { ahead, hop, ports } = world
  const owed = outside(hop, owedDeliveries(ports.storage))
  let host = first
  for (let leap = 0; hasOurTime(world) && leap < MOST_LEAPS; leap++) {
    if ((yield* owed).length === 0) {
      host.kill()
      if ((yield* owed).length === 0) return
      host = yield* started(world)
    } else ahead.ms += LEAP_MS
    yield* Effect.sleep(AFTERWARDS_MS)
  }
  host.kill()
})

/** The next host begins with forgetting what was over long ago. The records are whole without it. */
const forget = Effect.fnUntraced(function* (world: World) {
  const { ahead, check, hop, ledger, ports } = world
  ahead.ms += FORGET_MS
  let left: ReadonlyArray<string> = []
  // It polls once an hour, or when it starts: a fault puts that off to the next start.
  for (let start = 0; start === 0 || (start < MOST_LEAPS && left.length > 0); start++) {
    const host = yield* started(world)
    yield* Effect.sleep(AFTERWARDS_MS)
    yield* host.stop()
    left = hasOurTime(world) ? yield* outside(hop, forgotten(ports)) : []
  }
  const problems = yield* outside(hop, check)
  ledger.problems.push(...problems.filter((problem) => /^(chain|replay|guard): /.test(problem)))
  ledger.problems.push(...left)
})

/** Of what is over nothing is left, and the records are whole without it. */
const forgotten = Effect.fnUntraced(function* ({ storage }: Ports) {
  const problems: Array<string> = []
  for (const { id } of yield* storage.list(WEBHOOKS)) {
    const { ms } = yield* storage.asOf
    // A start after the leap has events of its own: that nobody checked the channel for a month, for one.
    const left = (yield* storage.outbox.deliveriesOf(id, { limit: 1_000 })).filter(
      ({ finishedAtMs }) => finishedAtMs !== null && finishedAtMs < ms - KEPT_MS
    )
    if (left.length > 1)
      problems.push(`forget: ${left.length} deliveries to ${id} are over for more than a month, and still there`)
  }
  return problems
})

/** A host that serves: it is started again until it does. */
const started = Effect.fnUntraced(function* ({ hop, ledger, ports, sends, time }: World) {
  for (let life = 0; ; life++) {
    const host = new Host(contextIn(time, `life ${life}`))
    const opened = yield* host.open(ports, hop, sends)
    if (opened !== null && Exit.isSuccess(opened)) return host
    const fault = opened?.cause.reasons.find((reason) => reason._tag === "Fail")?.error
    if (fault?._tag !== "StorageUnavailable") ledger.problem(`start: ${fault?.message ?? "died"}`)
    host.kill()
    yield* Effect.sleep(START_AGAIN_MS)
  }
})

/** Reads as people do: the answers are checked like all others. */
const read = Effect.fnUntraced(function* (client: Client, ledger: Ledger) {
  const [agentId] = [...ledger.agents.values()]
  yield* ask(
    client,
    "read keys",
    IngestKeys.use((keys) => keys.list)
  )
  yield* ask(
    client,
    "read decisions",
    Capture.use((capture) => capture.list(agentId!))
  )
  yield* ask(
    client,
    "read events",
    Storage.use(({ outbox }) => outbox.events({ limit: 10 }))
  )
  yield* ask(
    client,
    "read a unit's events",
    Storage.use(({ outbox }) => outbox.owned({ owner: "0".repeat(16), types: ["alert.triggered"], limit: 10 }))
  )
  yield* ask(
    client,
    "read proof",
    Chain.use((chain) => chain.proof(1))
  )
  yield* ask(
    client,
    "read counters",
    Storage.use((storage) => storage.counters(["ops:tokens:2026-11"]))
  )
  const row = { subject: "walk", policies: [{ name: "minute", limit: 10, window: 60 }] }
  yield* ask(
    client,
    "take from a limit",
    Storage.use(({ limits }) => limits.take([{ rows: [row], cost: 1, units: 1 }]))
  )
})
