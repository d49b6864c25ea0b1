/**
 * Rate limits of one process over the rows of a store.
 *
 * Units of the current second are taken ahead in one call to the store and handed out from memory. They are used until
 * that second ends by the store's clock, counted from the moment of sending. So what is handed out late was counted
 * early, and no window holds more than its limit. A process that ends without giving back loses what it took ahead.
 */
import { Clock, Context, Effect, Exit, Fiber, Layer } from "effect"
import { costProblem, type LimitRow, type Mark, type PolicyState, type Taken } from "../storage/limits/slots.ts"
import { type ReadFault, Storage } from "../storage/port.ts"

/** State of one policy for an answer. */
export interface PolicyStanding {
  readonly policy: string
  readonly limit: number
  /** Units left; 0 of a policy that refused. */
  readonly remaining: number
  /** When units come back next; of a policy that refused, when the cost fits. Unit: seconds since 1970 UTC. */
  readonly resetS: number
}

/** Result of a request to the limits. */
export interface RateLimited {
  readonly admitted: boolean
  /** The policy that refused with the longest wait, else the one with the least left for its limit. */
  readonly binding: PolicyStanding & { readonly subject: string }
  readonly policies: ReadonlyArray<PolicyStanding>
  /** A caller that waits so long is admitted if nobody else came. Null where it was admitted. Unit: seconds. */
  readonly retryAfterS: number | null
}

/** Rate limits. Both calls want at least one policy. */
export interface RateLimitsApi {
  /**
   * Takes `cost` units from every policy of every row, or none from any.
   *
   * - Dies where the cost is above a limit: no wait admits it. Ask `costProblem` before.
   * - Fails: as the store does. What was taken then is lost until its window ends.
   */
  readonly take: (request: {
    readonly rows: ReadonlyArray<LimitRow>
    readonly cost: number
  }) => Effect.Effect<RateLimited, ReadFault>
  /** Reads the state of the rows and takes nothing. */
  readonly look: (rows: ReadonlyArray<LimitRow>) => Effect.Effect<RateLimited, ReadFault>
}

/** Units taken ahead are at most the smallest limit divided by this. */
const SHARE = 20
/** Below this rate, units of rows that processes share are taken one by one. Unit: units a minute. */
const SLOW = 600
/** How often what was not used is given back. Unit: milliseconds. */
const GIVE_BACK_MS = 1_000

/**
 * Rate limits in which no window of real time holds more than its limit, with true waits.
 *
 * ```ts
 * const program = Effect.gen(function* () {
 *   const limits = yield* RateLimits
 *   const rows = [{ subject: "key_1", policies: [{ name: "hour", limit: 2, window: 3600 }] }]
 *   for (let call = 1; call <= 3; call++) {
 *     const { admitted, binding, retryAfterS } = yield* limits.take({ rows, cost: 1 })
 *     console.log(admitted, binding.remaining, retryAfterS === null ? "go" : "wait")
 *   }
 * })
 * await Effect.runPromise(Effect.provide(program, RateLimits.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
 * // prints: true 1 go true 0 go false 0 wait
 * ```
 *
 * Spec: document 2 part 8; platform section 3.
 */
export class RateLimits extends Context.Service<RateLimits, RateLimitsApi>()("flyball/core/RateLimits") {
  static readonly layer: Layer.Layer<RateLimits, never, Storage> = Layer.effect(
    RateLimits,
    Effect.suspend(() => makeRateLimits)
  )
}

const noPolicy = "A request to the rate limits names no policy: a subject without limits does not ask."

/** Somebody who waits for the store's answer. */
interface Waiter {
  readonly cost: number
  readonly resume: (exit: Exit.Exit<RateLimited, ReadFault>) => void
}

/** The units of some rows that this process has in hand. */
class Hand {
  readonly rows: ReadonlyArray<LimitRow>
  /** The waiters, in order; one that gives up takes itself out. */
  readonly waiting: Set<Waiter> = new Set()
  /** True while a request to the store is under way. */
  isOut = false
  /** Units in hand. They are used before `untilMs` of the monotonic clock, and given back after. */
  units = 0
  untilMs = 0
  marks: ReadonlyArray<Mark> = []
  policies: ReadonlyArray<PolicyState> = []
  /** The cost that the store refused last; it is refused again until `untilMs`. */
  refusedCost = 0
  /** At least this is between the monotonic clock and the store's. Unit: milliseconds. */
  offsetMs = 0
  #used = 0
  #usedBefore = 0
  #second = 0
  readonly #shared: boolean
  readonly #share: number

  constructor(rows: ReadonlyArray<LimitRow>, shared: boolean) {
    this.rows = rows
    this.#shared = shared
    const policies = rows.flatMap((row) => row.policies)
    const isSlow = policies.some(({ limit, window }) => window !== "day" && limit * 60 < SLOW * window)
    this.#share = shared && isSlow ? 1 : Math.floor(Math.min(...policies.map(({ limit }) => limit)) / SHARE)
  }

  use(units: number, monoMs: number): void {
    this.#turn(monoMs)
    this.#used += units
  }

  #turn(monoMs: number): void {
    const second = Math.floor(monoMs / 1000)
    if (second !== this.#second) {
      this.#usedBefore = second === this.#second + 1 ? this.#used : 0
      this.#used = 0
      this.#second = second
    }
  }

  /** Units to take in one request, its cost included. */
  wanted(monoMs: number): number {
    this.#turn(monoMs)
    return this.#shared ? Math.min(this.#share, Math.floor(this.#usedBefore / 2)) : this.#share
  }

  /** The answer from memory, where there is one. */
  answer(cost: number, monoMs: number): RateLimited | null {
    if (monoMs >= this.untilMs) return null
    // The state that refused one unit is what a read would find.
    if (cost === 0) return this.refusedCost > 1 ? null : answerOf(this.policies, this.units, true, 0)
    if (cost === this.refusedCost) return answerOf(this.policies, 0, false, monoMs + this.offsetMs)
    if (this.units < cost) return null
    this.units -= cost
    this.use(cost, monoMs)
    return answerOf(this.policies, this.units, true, 0)
  }
}

const makeRateLimits = Effect.gen(function* () {
  const { limits } = yield* Storage
  const clock = yield* Clock.Clock
  const services = yield* Effect.context<never>()
  const hands = new Map<string, Hand>()
  let givingBack: Fiber.Fiber<void> | null = null
  const monoMs = (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const handOf = (rows: ReadonlyArray<LimitRow>): Hand => {
    const key = keyOf(rows)
    let hand = hands.get(key)
    if (hand === undefined) hands.set(key, (hand = new Hand(rows, limits.shared)))
    return hand
  }

  /** Takes for those who wait until nobody does. */
  const fly = (hand: Hand): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [first, ...others] = hand.waiting
      if (first === undefined) {
        hand.isOut = false
        return Effect.void
      }
      const cost = first.cost
      const behind = others.reduce((sum, waiter) => sum + waiter.cost, 0)
      const sentMs = monoMs()
      const ahead = Math.max(behind, hand.wanted(sentMs) - cost)
      const back = takeBack(hand)
      const taking = limits.take([{ rows: hand.rows, cost, units: ahead, ...back }])
      return Effect.flatMap(Effect.exit(taking), (exit) => {
        if (Exit.isFailure(exit)) {
          for (const waiter of hand.waiting) waiter.resume(Exit.failCause(exit.cause))
          hand.waiting.clear()
        } else land(hand, first, exit.value[0]!, sentMs)
        return fly(hand)
      })
    })

  const waitFor = (hand: Hand, cost: number): Effect.Effect<RateLimited, ReadFault> =>
    Effect.callback((resume) => {
      const waiter: Waiter = { cost, resume }
      hand.waiting.add(waiter)
      if (!hand.isOut) {
        hand.isOut = true
        Effect.runForkWith(services)(fly(hand))
      }
      return Effect.sync(() => void hand.waiting.delete(waiter))
    })

  const land = (hand: Hand, first: Waiter, taken: Taken, sentMs: number): void => {
    hand.units = taken.ahead
    hand.marks = taken.marks
    hand.policies = taken.policies
    hand.untilMs = sentMs + taken.forMs
    hand.offsetMs = taken.atMs - monoMs()
    hand.refusedCost = taken.admitted ? 0 : first.cost
    const isHere = hand.waiting.delete(first)
    if (taken.admitted) {
      if (isHere) hand.use(first.cost, sentMs)
      else hand.units += first.cost
    }
    if (isHere) first.resume(Exit.succeed(answerOf(taken.policies, hand.units, taken.admitted, taken.atMs)))
    for (const waiter of hand.waiting) {
      const answer = hand.answer(waiter.cost, sentMs)
      if (answer === null) break
      hand.waiting.delete(waiter)
      waiter.resume(Exit.succeed(answer))
    }
    givingBack ??= Effect.runForkWith(services)(giveBack)
  }

  /** Gives back what was not used when its second is over, and forgets what nobody uses any more. */
  const giveBack: Effect.Effect<void> = Effect.gen(function* () {
    while (hands.size > 0) {
      yield* Effect.sleep(GIVE_BACK_MS)
      yield* returnUnits(monoMs())
    }
    givingBack = null
  })

  const returnUnits = (beforeMs: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const idle = [...hands].filter(([, { isOut, untilMs }]) => !isOut && untilMs <= beforeMs)
      for (const [key] of idle) hands.delete(key)
      const requests = idle.flatMap(([, hand]) =>
        hand.units === 0 ? [] : [{ rows: hand.rows, cost: 0, units: 0, ...takeBack(hand) }]
      )
      // Where the store does not answer, these units count until their window ends.
      return requests.length === 0 ? Effect.void : Effect.ignore(limits.take(requests))
    })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.suspend(() => (givingBack === null ? Effect.void : Fiber.interrupt(givingBack))),
      returnUnits(Number.POSITIVE_INFINITY)
    )
  )

  return RateLimits.of({
    take: ({ cost, rows }) =>
      Effect.suspend(() => {
        const problem = rows.some(({ policies }) => policies.length > 0) ? costProblem(rows, cost) : noPolicy
        if (problem !== null) throw new Error(problem)
        const hand = handOf(rows)
        const known = hand.isOut ? null : hand.answer(cost, monoMs())
        return known === null ? waitFor(hand, cost) : Effect.succeed(known)
      }),
    look: (rows) =>
      Effect.suspend(() => {
        const known = hands.get(keyOf(rows))?.answer(0, monoMs()) ?? null
        if (known !== null) return Effect.succeed(known)
        return Effect.map(limits.take([{ rows, cost: 0, units: 0 }]), ([taken]) =>
          answerOf(taken!.policies, 0, true, taken!.atMs)
        )
      })
  })
})

/** Takes what is left out of the hand, for a request that gives it back. */
const takeBack = (hand: Hand) => {
  const { marks, units } = hand
  hand.units = 0
  return units === 0 ? {} : { back: { units, marks } }
}

const keyOf = (rows: ReadonlyArray<LimitRow>): string => {
  let key = ""
  for (const { policies, subject } of rows) {
    key += `\n${subject}`
    for (const { limit, name, window } of policies) key += `\0${name}\0${limit}\0${window}`
  }
  return key
}

/** The answer that these states make, with `units` of them in hand. */
const answerOf = (states: ReadonlyArray<PolicyState>, units: number, admitted: boolean, nowMs: number): RateLimited => {
  let binding: PolicyState | undefined
  for (const state of states) if (binding === undefined || binds(state, binding)) binding = state
  if (binding === undefined) throw new Error(noPolicy)
  const standing = ({ limit, policy, refused, remaining, resetS }: PolicyState): PolicyStanding => ({
    policy,
    limit,
    remaining: refused ? 0 : remaining + units,
    resetS
  })
  return {
    admitted,
    binding: { subject: binding.subject, ...standing(binding) },
    policies: states.map(standing),
    retryAfterS: admitted ? null : Math.max(1, Math.ceil(binding.resetS - nowMs / 1000))
  }
}

const binds = (one: PolicyState, other: PolicyState): boolean => {
  if (one.refused !== other.refused) return one.refused
  return one.refused ? one.resetS > other.resetS : one.remaining / one.limit < other.remaining / other.limit
}
