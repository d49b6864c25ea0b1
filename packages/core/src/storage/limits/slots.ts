/**
 * Rate limits by whole-second slots, and permits: the rules of `limits.take`. Pure, and the same for every backend.
 *
 * An admission at an instant counts in the slot that ends at the next whole second. It leaves one window after that
 * end. So no window of real time holds more than its limit, and every reset is a whole second.
 *
 * Spec: platform section 3.
 */

import { isStorable } from "../../foundation/text.ts"

/** A limit: at most `limit` units in each window of so many seconds, or in each UTC day. */
export interface LimitPolicy {
  /** Unique in its row. */
  readonly name: string
  /** Unit: units, at least 1. */
  readonly limit: number
  /** Unit: seconds, at most 31 days. */
  readonly window: number | "day"
}

/** The policies that one subject is held to, for example a key, or a key and a model. */
export interface LimitRow {
  readonly subject: string
  readonly policies: ReadonlyArray<LimitPolicy>
}

/** Second and day in which units were counted in a row, so that they can be given back. */
export interface Mark {
  readonly second: number
  readonly day: number
}

/** Calls in flight of one process. `running` is a fact and always stored, `wanted` more are granted up to `limit`. */
export interface HeldRequest {
  readonly subject: string
  /** Names the process. */
  readonly holder: string
  readonly running: number
  readonly wanted: number
  readonly limit: number
}

/** One request to the rows of a store. */
export interface LimitRequest {
  /** The rows, each subject once. */
  readonly rows: ReadonlyArray<LimitRow>
  /** Units that are admitted together, in every policy, or not at all. 0 only reads. */
  readonly cost: number
  /** Units to take ahead of their use, beyond the cost: as many of them as are free. */
  readonly units: number
  /** Unused units of an earlier request with these rows, and the marks of its answer. */
  readonly back?: { readonly units: number; readonly marks: ReadonlyArray<Mark> }
  readonly held?: HeldRequest
}

/** A policy after a request. */
export interface PolicyState {
  readonly subject: string
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  /** When units come back next; of a policy that refused, when the cost fits. Unit: seconds since 1970 UTC. */
  readonly resetS: number
  readonly refused: boolean
}

/** Result of one request. */
export interface Taken {
  readonly admitted: boolean
  /** Units taken ahead. */
  readonly ahead: number
  /** The store's time. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
  /** How long units taken ahead may be used, from `atMs`: to the end of their slot. Unit: milliseconds. */
  readonly forMs: number
  /** One for each row. */
  readonly marks: ReadonlyArray<Mark>
  /** In the order of rows and policies. */
  readonly policies: ReadonlyArray<PolicyState>
  /** Answer to {@link HeldRequest}: how many of the wanted are granted, and how many then run in all processes. */
  readonly held: { readonly granted: number; readonly inFlight: number } | null
}

/** The state of one subject in a store. */
export interface RowState {
  /** Seconds that the clock stepped back: slots count on as if it had not. */
  readonly lag: number
  /** The newest slot, and the newest day. */
  readonly newest: number
  readonly day: number
  /** By window and name: second and count of each slot, in order; of a day its number and its count. */
  readonly slots: { readonly [policy: string]: ReadonlyArray<number> }
  /** By process: its calls in flight, and when it stated them. Unit: milliseconds, with the lag. */
  readonly held: { readonly [holder: string]: readonly [count: number, atMs: number] }
}

/** A process that is silent for longer holds nothing any more. Unit: milliseconds. */
export const HOLDER_LAPSES_MS = 15_000

const DAY_S = 86_400
const DAY_MS = DAY_S * 1000
const MAX_WINDOW_S = 31 * DAY_S
const namePattern = /^[a-z][a-z0-9_.:-]{0,63}$/

/** Describes a cost that no wait can admit, as a sentence for its caller; null if it fits all limits. */
export const costProblem = (rows: ReadonlyArray<LimitRow>, cost: number): string | null => {
  if (!Number.isSafeInteger(cost) || cost < 0) return `A cost is a whole number of units from 0, not ${cost}.`
  for (const { policies } of rows)
    for (const { limit, name } of policies)
      if (cost > limit) return `A cost of ${cost} is above the limit ${name}, which is ${limit}: send less at once.`
  return null
}

/** Describes the first problem of requests that does not depend on the store; null if there is none. */
export const limitsProblem = (requests: ReadonlyArray<LimitRequest>): string | null => {
  for (const { back, cost, held, rows, units } of requests) {
    if (rows.length === 0 && held === undefined) return "A request names no row and no permit."
    const subjects = new Set<string>()
    for (const { policies, subject } of rows) {
      if (!isSubject(subject)) return "The subject of a limit is not text that a store can hold."
      if (subjects.has(subject)) return "A request names a subject twice; name it once with all its policies."
      subjects.add(subject)
      for (const policy of policies) if (!isPolicy(policy)) return `The policy ${policy.name} is not well formed.`
    }
    const problem = costProblem(rows, cost)
    if (problem !== null) return problem
    if (![units, back?.units ?? 0, held?.running ?? 0, held?.wanted ?? 0].every(isCount))
      return "Units and calls are whole numbers from 0."
    if (held !== undefined && (!isSubject(held.subject) || !isSubject(held.holder) || !isCount(held.limit)))
      return "A permit has a subject, a holder and a limit from 0."
  }
  return null
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
const isSubject = (text: string): boolean => text !== "" && isStorable(text)
const isPolicy = ({ limit, name, window }: LimitPolicy): boolean =>
  namePattern.test(name) &&
  Number.isSafeInteger(limit) &&
  limit >= 1 &&
  (window === "day" || (Number.isInteger(window) && window >= 1 && window <= MAX_WINDOW_S))

/**
 * Answers requests in their order, each against the rows as those before it left them.
 *
 * `stateOf` reads a row that is stored. A row that comes back changed is to be written; a refusal changes none, unless
 * the clock stepped back.
 */
export const takeLimits = (
  stateOf: (subject: string) => RowState | undefined,
  requests: ReadonlyArray<LimitRequest>,
  nowMs: number
): { readonly taken: ReadonlyArray<Taken>; readonly changed: ReadonlyMap<string, RowState> } => {
  const open = new Map<string, OpenRow>()
  const rowOf = (subject: string): OpenRow => {
    let row = open.get(subject)
    if (row === undefined) open.set(subject, (row = new OpenRow(stateOf(subject), nowMs)))
    return row
  }
  const taken = requests.map((request) => takeOne(request, rowOf, nowMs))
  const changed = new Map<string, RowState>()
  for (const [subject, row] of open) if (row.isChanged) changed.set(subject, row.state())
  return { taken, changed }
}

const takeOne = (
  { back, cost, held, rows, units }: LimitRequest,
  rowOf: (subject: string) => OpenRow,
  nowMs: number
): Taken => {
  const opened = rows.map(({ policies, subject }) => ({ policies, subject, row: rowOf(subject) }))
  if (back !== undefined)
    opened.forEach(({ policies, row }, index) => {
      for (const policy of policies) row.giveBack(policy, back.marks[index]!, back.units)
    })
  let free = Number.POSITIVE_INFINITY
  for (const { policies, row } of opened)
    for (const policy of policies) free = Math.min(free, policy.limit - row.counted(policy))
  const admitted = cost === 0 || free >= cost
  const ahead =
    admitted && units > 0 && free !== Number.POSITIVE_INFINITY ? Math.max(0, Math.min(units, free - cost)) : 0
  if (admitted && cost + ahead > 0)
    for (const { policies, row } of opened) for (const policy of policies) row.add(policy, cost + ahead)
  return {
    admitted,
    ahead,
    atMs: nowMs,
    forMs: Math.ceil(nowMs / 1000) * 1000 - nowMs,
    marks: opened.map(({ row: { day, second } }) => ({ day, second })),
    policies: opened.flatMap(({ policies, row, subject }) =>
      policies.map((policy) => row.read(subject, policy, admitted ? 0 : cost))
    ),
    held: held === undefined ? null : rowOf(held.subject).hold(held)
  }
}

const keyOf = ({ name, window }: LimitPolicy): string => `${window}:${name}`

/** A row while requests are answered. */
class OpenRow {
  /** The slot of an admission now. */
  readonly second: number
  readonly day: number
  isChanged: boolean
  readonly #lag: number
  readonly #atMs: number
  #newest: number
  readonly #slots: { [policy: string]: ReadonlyArray<number> }
  readonly #held: { [holder: string]: readonly [count: number, atMs: number] }

  constructor(state: RowState | undefined, nowMs: number) {
    const second = Math.ceil(nowMs / 1000)
    const today = Math.floor(nowMs / DAY_MS)
    // Where the clock stepped back, slots go on to age, and none of them early: the time with the lag is not later than
    // the newest slot began. The lag is written even where all is refused.
    this.#lag = state === undefined ? 0 : Math.max(state.lag, state.newest - 1 - second)
    this.isChanged = state !== undefined && this.#lag !== state.lag
    this.second = Math.max(second + this.#lag, state?.newest ?? 0)
    // A step back over midnight stays in the day that began; a longer one takes its count along.
    this.day = state?.day === today + 1 ? state.day : today
    this.#atMs = nowMs + this.#lag * 1000
    this.#newest = state?.newest ?? 0
    this.#slots = { ...state?.slots }
    this.#held = { ...state?.held }
  }

  /** Units that count now. */
  counted(policy: LimitPolicy): number {
    const slots = this.#slots[keyOf(policy)]
    if (slots === undefined) return 0
    if (policy.window === "day") return slots[0]! >= this.day ? slots[1]! : 0
    let sum = 0
    for (let at = this.#firstLive(slots, policy.window); at < slots.length; at += 2) sum += slots[at + 1]!
    return sum
  }

  /** Adds units to the slot of now. */
  add(policy: LimitPolicy, units: number): void {
    const key = keyOf(policy)
    const slots = this.#slots[key] ?? []
    this.isChanged = true
    this.#newest = this.second
    if (policy.window === "day") this.#slots[key] = [this.day, this.counted(policy) + units]
    else if (slots.at(-2) === this.second) this.#slots[key] = slots.with(-1, slots.at(-1)! + units)
    else this.#slots[key] = [...slots.slice(this.#firstLive(slots, policy.window)), this.second, units]
  }

  /** Takes units out of the slot in which they were counted, where it is still there. */
  giveBack(policy: LimitPolicy, { day, second }: Mark, units: number): void {
    const key = keyOf(policy)
    const slots = this.#slots[key] ?? []
    const at = slots.findIndex((value, index) => index % 2 === 0 && value === (policy.window === "day" ? day : second))
    if (at < 0 || units === 0) return
    const left = Math.max(0, slots[at + 1]! - units)
    this.isChanged = true
    this.#slots[key] = left > 0 ? slots.with(at + 1, left) : [...slots.slice(0, at), ...slots.slice(at + 2)]
  }

  /** State of a policy, for a cost that was refused; 0 where it was not. */
  read(subject: string, policy: LimitPolicy, cost: number): PolicyState {
    const counted = this.counted(policy)
    const need = counted + cost - policy.limit
    const refused = cost > 0 && need > 0
    return {
      subject,
      policy: policy.name,
      limit: policy.limit,
      remaining: Math.max(0, policy.limit - counted),
      resetS: this.#resetS(policy, refused ? need : 1),
      refused
    }
  }

  /** When so many of the units that count have left. Unit: seconds of the store's clock. */
  #resetS({ name, window }: LimitPolicy, need: number): number {
    if (window === "day") return (this.day + 1) * DAY_S
    const slots = this.#slots[`${window}:${name}`] ?? []
    let left = 0
    for (let at = this.#firstLive(slots, window); at < slots.length; at += 2) {
      left += slots[at + 1]!
      if (left >= need) return slots[at]! + window - this.#lag
    }
    return Math.ceil(this.#atMs / 1000) - this.#lag
  }

  #firstLive(slots: ReadonlyArray<number>, window: number): number {
    let at = 0
    while (at < slots.length && (slots[at]! + window) * 1000 <= this.#atMs) at += 2
    return at
  }

  /** Grants permits, and states what runs. */
  hold({ holder, limit, running, wanted }: HeldRequest): { readonly granted: number; readonly inFlight: number } {
    let others = 0
    for (const [other, [count, atMs]] of Object.entries(this.#held))
      if (other !== holder && this.#atMs - atMs < HOLDER_LAPSES_MS) others += count
    const granted = Math.max(0, Math.min(wanted, limit - others - running))
    const count = running + granted
    if (count > 0 || this.#held[holder] !== undefined) {
      this.isChanged = true
      this.#newest = this.second
      if (count === 0) delete this.#held[holder]
      else this.#held[holder] = [count, this.#atMs]
    }
    return { granted, inFlight: others + count }
  }

  /** Answers what is to be stored: without slots that have left and processes that have lapsed. */
  state(): RowState {
    const slots: { [policy: string]: ReadonlyArray<number> } = {}
    for (const [key, all] of Object.entries(this.#slots)) {
      const window = windowOf(key)
      const live = window === "day" ? (all[0]! >= this.day ? all : []) : all.slice(this.#firstLive(all, window))
      if (live.length > 0) slots[key] = live
    }
    const held = Object.fromEntries(
      Object.entries(this.#held).filter(([, [, atMs]]) => this.#atMs - atMs < HOLDER_LAPSES_MS)
    )
    return { lag: this.#lag, newest: this.#newest, day: this.day, slots, held }
  }
}

const windowOf = (key: string): number | "day" => {
  const window = key.slice(0, key.indexOf(":"))
  return window === "day" ? window : Number(window)
}

/**
 * When a row says nothing any more, and may be deleted. Unit: seconds of the store's clock.
 *
 * A day is kept for a day longer: the clock may step back over midnight.
 */
export const rowEndS = ({ day, held, lag, newest, slots }: RowState): number => {
  let end = newest
  for (const key of Object.keys(slots)) {
    const window = windowOf(key)
    end = Math.max(end, window === "day" ? (day + 2) * DAY_S + lag : slots[key]!.at(-2)! + window)
  }
  for (const [, atMs] of Object.values(held)) end = Math.max(end, Math.ceil((atMs + HOLDER_LAPSES_MS) / 1000))
  return end - lag
}

/** How often a store deletes rows that have ended. Unit: milliseconds. */
export const LIMITS_SWEEP_MS = 60_000
