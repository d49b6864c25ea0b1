/** Options that the seed of a simulation decides: number of hosts, errors of their clocks, faults, acts. */
import { type FaultPoint, type Pick, pickOf, seededSource } from "@flyball/testkit"
import {
  type ActName,
  actNames,
  breakerActNames,
  governedActNames,
  killActNames,
  reviewActNames,
  webhookActNames
} from "./acts.ts"

/** Options of one run. All of them follow from the seed. */
export interface SimulationOptions {
  readonly seed: number
  readonly hosts: number
  readonly clients: number
  readonly actsPerClient: number
  /** Most time between two acts of a client. */
  readonly thinkMs: number
  /** Most time that a call to a port takes on its way there, and on its way back. */
  readonly callMs: number
  /** Most that a host's clock is wrong, either way. */
  readonly skewMs: number
  /** Mean time between two steps of some clock, forwards or back; 0: clocks do not step. */
  readonly stepEveryMs: number
  /** Most that the store's own clock is wrong, either way, once clocks step; 0: it is right. */
  readonly storeStepMs: number
  /** Calls of a thousand that go wrong, at the points below. */
  readonly faultsPerMille: number
  readonly faultPoints: ReadonlyArray<FaultPoint>
  /** Mean time between two times that a host cannot reach its ports at all; 0: none. */
  readonly outageEveryMs: number
  /** Mean life of a host; 0: it lives to the end. */
  readonly restartEveryMs: number
  /** Of a hundred restarts, how many are kills. The others stop in order. */
  readonly killsPercent: number
  /**
   * How long a client waits for an answer before it asks again, while the first question may still be worked on; 0: for
   * ever.
   */
  readonly patienceMs: number
  /** Acts of clients. Few kinds at a time meet each other more often. */
  readonly acts: ReadonlyArray<ActName>
  /** Every lease is given to everybody: nothing but the guard stands between two that sign. */
  readonly leasesLie: boolean
  /**
   * Calls of a thousand that hang on their way, up to several times the life of a lease: their senders have long been
   * taken for dead.
   */
  readonly stallsPerMille: number
  /** True when hosts send webhooks, and clients have some. */
  readonly webhooks: boolean
  /**
   * Mean time between two times that the store's clock leaps ahead, up to a day: that far ahead the next attempt at a
   * delivery is; 0: it does not.
   */
  readonly leapEveryMs: number
}

const minute = 60_000
const hour = 60 * minute

/** Points where a fault is likely to matter, each present more than once. */
const points: ReadonlyArray<FaultPoint> = [
  "storage.commit",
  "storage.commit",
  "guard.advance",
  "guard.advance",
  "storage.lease",
  "storage.releaseLease",
  "guard.read",
  "signer.sign",
  "storage.get",
  "storage.head",
  "storage.records",
  "storage.record",
  "storage.find",
  "storage.list",
  "storage.parts",
  "storage.once",
  "storage.hashes",
  "storage.asOf"
]

/** Points that hosts which send webhooks have beside these. */
const outboxPoints: ReadonlyArray<FaultPoint> = [
  "storage.outbox.claim",
  "storage.outbox.delivery",
  "storage.outbox.deliveriesOf",
  "storage.outbox.event",
  "storage.outbox.missed",
  "storage.outbox.forget"
]

/** The options of a seed. */
export const optionsOfSeed = (seed: number): SimulationOptions =>
  chooseOptions(seed, pickOf(seededSource(`options ${seed}`)))

/**
 * The same run without webhooks, governed agents and the kill switch, which cost most of its time: for what has nothing
 * to do with them.
 */
export const lightly = (options: SimulationOptions): SimulationOptions => ({
  ...options,
  webhooks: false,
  leapEveryMs: 0,
  faultPoints: options.faultPoints.filter((point) => !outboxPoints.includes(point)),
  acts: options.acts.filter((act) => actNames.includes(act))
})

/** Hosts that evaluate for one agent under a cap, all at once, and nothing that takes it back. */
export const crowded = (options: SimulationOptions): SimulationOptions => ({
  ...lightly(options),
  hosts: 3,
  clients: 5,
  actsPerClient: 15,
  thinkMs: 0,
  callMs: 30,
  faultsPerMille: 0,
  stallsPerMille: 0,
  outageEveryMs: 0,
  restartEveryMs: 0,
  skewMs: 0,
  stepEveryMs: 0,
  acts: ["govern", "evaluate", "evaluate", "evaluate"]
})

/** Acts of runs with the kill switch. Where nobody is governed there, that is begun for it. */
const stopping = (governed: boolean): ReadonlyArray<ActName> =>
  governed ? killActNames : ["govern", "evaluate", ...killActNames]

/** Three hosts that come and go, partly without reach of their ports, while an agent is stopped and let go again. */
export const stopped = (options: SimulationOptions): SimulationOptions => ({
  ...lightly(options),
  hosts: 3,
  clients: 5,
  actsPerClient: 12,
  acts: [...stopping(false), ...killActNames]
})

/** The same where an agent requests its own stop, and breakers trip, under a response policy that changes. */
export const answered = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  acts: ["govern", "evaluate", "ruleBy", "ruleBy", "wish", "wish", "arm", "fail", "fail", "acknowledge", "activate"]
})

/** Hosts that stop an agent and let it go again while it is evaluated, all at once. */
export const stoppedOften = (options: SimulationOptions): SimulationOptions => ({
  ...crowded(options),
  acts: ["govern", "evaluate", "evaluate", "activate", "release", "observe"]
})

/** Three hosts that come and go while platform keys are minted, shown to them and revoked. */
export const keyed = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  acts: ["mintPlatformKey", "revokePlatformKey", "openPlatformKey", "openPlatformKey"]
})

/** Three hosts that come and go while quotas are reserved, settled and returned. */
export const metered = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 16,
  acts: ["reserveQuota", "reserveQuota", "settleQuota", "settleQuota", "returnLapsed"]
})

/** Three hosts that come and go while applications are made, settled and screened. */
export const screened = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 16,
  acts: ["govern", "evaluate", "apply", "apply", "apply", "settle", "settle", "screen"]
})

/** Three hosts that come and go while servers change their tools, and people resolve the findings. */
export const listed = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 16,
  acts: ["listTools", "listTools", "listTools", "resolveFinding"]
})

/** Three hosts that come and go while an agent changes, is followed, and has breakers that its runs calibrate. */
export const drifting = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 20,
  acts: ["behave", "behave", "behave", "behave", "followBy", "follow", "follow", "calibrate"]
})

/** Three hosts that come and go while workflows call agents, ask people and are cancelled. */
export const flowing = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 16,
  thinkMs: 4_000,
  // What a killed host had taken up waits for its time, which a clock that steps back by an hour makes an hour.
  storeStepMs: Math.min(options.storeStepMs, 60_000),
  acts: ["govern", "start", "start", "decide", "decide", "decide", "decide", "cancel"]
})

/** Three hosts that come and go while monitors are made and deleted, and count what clients log. */
export const watched = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 24,
  thinkMs: 4_000,
  // Inferences of an hour ago lie outside each window.
  storeStepMs: Math.min(options.storeStepMs, 5_000),
  acts: ["watch", "log", "log", "log", "log", "unwatch"]
})

/** Three hosts that come and go while vehicles report where they are, and days pass between two calls. */
export const tracked = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 24,
  leapEveryMs: 15_000,
  storeStepMs: Math.min(options.storeStepMs, minute),
  acts: ["fence", "position", "position", "position", "position", "position"]
})

/** Three hosts that come and go while routes are planned, cancelled and dispatched. */
export const routed = (options: SimulationOptions): SimulationOptions => ({
  ...stopped(options),
  actsPerClient: 20,
  thinkMs: 4_000,
  storeStepMs: Math.min(options.storeStepMs, minute),
  acts: [
    "appoint",
    "appoint",
    "optimize",
    "optimize",
    "optimize",
    "seePlan",
    "cancelPlan",
    "dispatch",
    "dispatch",
    "dispatch"
  ]
})

/** Three hosts that come and go while agents and people have documents read. */
export const extracted = (options: SimulationOptions): SimulationOptions => ({
  ...routed(options),
  acts: ["appoint", "appoint", "extract", "extract", "extract", "extract", "seeExtraction", "seeExtraction"]
})

/** Acts of runs with breakers. Where nobody is governed there, that is begun for it. */
const breaking = (governed: boolean): ReadonlyArray<ActName> =>
  governed ? breakerActNames : ["govern", "evaluate", ...breakerActNames]

/** Three hosts that come and go, partly without reach of their ports, while breakers stop an agent. */
export const broken = (options: SimulationOptions): SimulationOptions => ({
  ...options,
  hosts: 3,
  clients: 5,
  actsPerClient: 16,
  acts: [...breaking(false), "arm", "fail", "fail", "pay", "rearm", "activate", "release"]
})

/** Hosts that read one agent's breakers while it fails, all at once. */
export const brokenOften = (options: SimulationOptions): SimulationOptions => ({
  ...crowded(options),
  actsPerClient: 20,
  acts: ["govern", "arm", "fail", "fail", "pay", "pay", "inspect", "rearm"]
})

/** Acts of runs with reviews, in the order of how often they are wanted. */
const reviewing: ReadonlyArray<ActName> = [...reviewActNames, "request", "resolve", "resolve", "present", "release"]

/** Three hosts that come and go, partly without reach of their ports, while people answer reviews of the desk. */
export const reviewed = (options: SimulationOptions): SimulationOptions => ({
  ...options,
  hosts: 3,
  clients: 5,
  actsPerClient: 24,
  acts: [...reviewing, "request", "request", "resolve", "resolve", "resolve", "present", "present"]
})

/** Hosts at which people answer reviews of the desk, all at once. */
export const reviewedOften = (options: SimulationOptions): SimulationOptions => ({
  ...crowded(options),
  actsPerClient: 30,
  thinkMs: 400,
  acts: [
    "rule",
    "request",
    "request",
    "resolve",
    "resolve",
    "resolve",
    "resolve",
    "present",
    "present",
    "read",
    "sweep"
  ]
})

/** The same with standing approvals, which are used up. */
export const approvedOften = (options: SimulationOptions): SimulationOptions => ({
  ...reviewedOften(options),
  acts: [
    ...reviewedOften(options).acts,
    "request",
    "request",
    "propose",
    "propose",
    "grantStanding",
    "grantStanding",
    "request"
  ]
})

/** The same with halts of the agents, which are lifted again. */
export const haltedOften = (options: SimulationOptions): SimulationOptions => ({
  ...reviewedOften(options),
  acts: ["rule", "request", "request", "request", "resolve", "resolve", "resolve", "halt", "halt", "release", "release"]
})

const chooseOptions = (seed: number, pick: Pick): SimulationOptions => {
  const one = <A>(...values: readonly [A, ...ReadonlyArray<A>]): A => values[pick(values.length)]!
  const some = <A>(values: ReadonlyArray<A>, oneIn: number): ReadonlyArray<A> => [
    ...new Set(values.filter(() => pick(oneIn) === 0))
  ]
  const everything = pick(4) === 0
  const plain: Omit<SimulationOptions, "webhooks" | "leapEveryMs"> = {
    seed,
    hosts: 1 + pick(4),
    clients: 1 + pick(5),
    actsPerClient: 4 + pick(12),
    thinkMs: one(0, 50, 1_000, 5_000),
    callMs: one(0, 3, 30, 400),
    skewMs: one(0, 500, minute, 24 * hour),
    stepEveryMs: one(0, 2_000, 20_000),
    storeStepMs: one(0, 0, 900, hour),
    faultsPerMille: one(0, 5, 30, 120),
    faultPoints: everything ? [...new Set(points)] : some(points, 3),
    outageEveryMs: one(0, 0, 5_000, 30_000),
    restartEveryMs: one(0, 1_000, 8_000, 40_000),
    killsPercent: one(0, 50, 100),
    patienceMs: one(0, 0, 200, 3_000),
    acts: [...new Set<ActName>(["witness", ...(everything ? actNames : some(actNames, 2))])],
    // Chosen last: what was added later must not change what older seeds chose.
    leasesLie: pick(4) === 0,
    stallsPerMille: one(0, 0, 10, 60)
  }
  const webhooks = pick(2) === 0
  const governed = pick(2) === 0
  const stops = pick(3) === 0
  const breaks = pick(3) === 0
  const earlier: SimulationOptions = {
    ...plain,
    webhooks,
    leapEveryMs: webhooks ? one(0, 3_000, 15_000) : 0,
    faultPoints: webhooks
      ? [...plain.faultPoints, ...(everything ? outboxPoints : some(outboxPoints, 2))]
      : plain.faultPoints,
    acts: [
      ...plain.acts,
      ...(webhooks ? webhookActNames : []),
      ...(governed ? governedActNames : []),
      ...(stops ? stopping(governed) : []),
      ...(breaks ? breaking(governed) : [])
    ]
  }
  // After everything above, so that seeds without reviews stay as they were.
  return pick(4) === 0 ? { ...earlier, acts: [...earlier.acts, "rule", ...reviewing] } : earlier
}
