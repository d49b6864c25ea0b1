/** What the seed of a simulation decides: how many hosts, how wrong their clocks, what breaks, what people do. */
import { type FaultPoint, type Pick, pickOf, seededSource } from "@flyball/testkit"
import { type ActName, actNames } from "./acts.ts"

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
  /** How long a client waits for an answer before it asks again, while the first question may still be worked on; 0: for ever. */
  readonly patienceMs: number
  /** What clients do. Few kinds at a time meet each other more often. */
  readonly acts: ReadonlyArray<ActName>
  /** Every lease is given to everybody: nothing but the guard stands between two that sign. */
  readonly leasesLie: boolean
  /** Calls of a thousand that hang on their way, up to several times the life of a lease: whoever sent them has long been taken for dead. */
  readonly stallsPerMille: number
}

const minute = 60_000
const hour = 60 * minute

/** Points where a fault is likely to matter, each present more than once. */
const points: ReadonlyArray<FaultPoint> = [
  "storage.commit", "storage.commit", "guard.advance", "guard.advance", "storage.lease", "storage.releaseLease", "guard.read", "signer.sign", "storage.get", "storage.head",
  "storage.records", "storage.record", "storage.find", "storage.list", "storage.parts", "storage.once", "storage.hashes", "storage.asOf"
]

/** The options of a seed. */
export const optionsOfSeed = (seed: number): SimulationOptions => chooseOptions(seed, pickOf(seededSource(`options ${seed}`)))

const chooseOptions = (seed: number, pick: Pick): SimulationOptions => {
  const one = <A>(...values: readonly [A, ...ReadonlyArray<A>]): A => values[pick(values.length)]!
  const some = <A>(values: ReadonlyArray<A>, oneIn: number): ReadonlyArray<A> => [...new Set(values.filter(() => pick(oneIn) === 0))]
  const everything = pick(4) === 0
  return {
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
}
