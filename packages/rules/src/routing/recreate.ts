/** Puts jobs back, one after the other, where each costs least; now and then the best place is passed over. */
import type { Generator32 } from "@flyball/statistics"
import { type Model, NEIGHBOURS } from "./model.ts"
import type { State } from "./state.ts"

/** Of 2^32 places, one in a hundred is not seen. */
const BLINKS = 42_949_673

/** Jobs that were left out and are tried again, at most, in one iteration. */
const RETRIED = 20

/** Orders in which jobs are put back, and how often each is drawn. */
const orders = ["random", "demand", "far", "close", "width", "opens", "closes"] as const
const drawn = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6] as const

/** The smaller the key of a job, the sooner it is put back. */
export type Keys = { readonly [order in Exclude<(typeof orders)[number], "random">]: Float64Array }

/** Computes the keys of all jobs. */
export const keysOf = (model: Model): Keys => {
  const { jobs, dimensions, demand, capacity, windows, opens, closes, vehicles } = model
  const largest = Array.from({ length: dimensions }, (_, d) => {
    let most = 1
    for (let vehicle = 0; vehicle < vehicles; vehicle++) most = Math.max(most, capacity[vehicle * dimensions + d]!)
    return most
  })
  const key = (of: (job: number) => number) => Float64Array.from({ length: jobs }, (_, job) => of(job))
  const close = key((job) => {
    let nearest = Infinity
    for (let vehicle = 0; vehicle < vehicles; vehicle++)
      nearest = Math.min(nearest, model.distance(jobs + vehicle, job) + model.distance(job, jobs + vehicle))
    return nearest
  })
  return {
    demand: key((job) => -largest.reduce((sum, most, d) => sum + demand[job * dimensions + d]! / most, 0)),
    far: close.map((distance) => -distance),
    close,
    width: key((job) => closes[windows[job + 1]! - 1]! - opens[windows[job]!]!),
    opens: key((job) => opens[windows[job]!]!),
    closes: key((job) => closes[windows[job + 1]! - 1]!)
  }
}

/** Puts back what is in the pool. What finds no place stays there. */
export class Recreator {
  readonly #state: State
  readonly #random: Generator32
  readonly #keys: Keys
  readonly #spots: Int32Array
  readonly #stamps: Int32Array
  readonly #rank: Float64Array
  #stamp = 0

  constructor(state: State, random: Generator32) {
    const { jobs, vehicles } = state.model
    this.#state = state
    this.#random = random
    this.#keys = keysOf(state.model)
    this.#spots = new Int32Array(jobs + vehicles)
    this.#stamps = new Int32Array(jobs + vehicles)
    this.#rank = new Float64Array(jobs)
  }

  /** Puts the jobs back in an order that is drawn. `kept`: how many of the pool's first were left out before. */
  recreate(kept: number): void {
    const { pool } = this.#state
    for (let surplus = kept - RETRIED; surplus > 0; surplus--) {
      // Swaps an older one to where it is not tried, then tries those behind.
      const other = surplus - 1 + this.#random.below(kept - surplus + 1)
      const job = pool[other]!
      pool[other] = pool[surplus - 1]!
      pool[surplus - 1] = job
    }
    const rest = pool.splice(Math.max(0, kept - RETRIED))
    this.#sort(rest)
    for (const job of rest) {
      let behind = this.#best(job, false)
      if (behind < 0) behind = this.#best(job, true)
      if (behind < 0) pool.push(job)
      else this.#state.insert(job, behind)
    }
  }

  /** Makes the first plan: each job at the best of all places. */
  construct(jobs: ReadonlyArray<number>): void {
    const { pool } = this.#state
    const rest = [...jobs]
    this.#sortBy(rest, this.#keys.far)
    for (const job of rest) {
      const behind = this.#best(job, true)
      if (behind < 0) pool.push(job)
      else this.#state.insert(job, behind)
    }
  }

  #sort(jobs: Array<number>): void {
    const order = orders[drawn[this.#random.below(drawn.length)]!]!
    if (order !== "random") return this.#sortBy(jobs, this.#keys[order])
    for (const job of jobs) this.#rank[job] = this.#random.next()
    this.#sortBy(jobs, this.#rank)
  }

  #sortBy(jobs: Array<number>, keys: Float64Array): void {
    const { weight } = this.#state.model
    const leaving = this.#state.pool.length > 0
    jobs.sort((a, b) => (leaving ? weight[b]! - weight[a]! : 0) || keys[a]! - keys[b]! || a - b)
  }

  /** Collects the nodes behind which a job may go, an unused vehicle of each kind among them. */
  #collect(job: number, all: boolean): number {
    const state = this.#state
    const { model, next, prev, route } = state
    const spots = this.#spots
    let count = 0
    for (let kind = 0; kind < model.kinds; kind++) {
      const free = state.firstFree[kind]!
      if (free <= state.lastOfKind[kind]!) spots[count++] = model.jobs + state.ranked[free]!
    }
    if (all) {
      for (let node = 0; node < route.length; node++)
        if (route[node]! >= 0 && next[node] !== node) spots[count++] = node
      return count
    }
    const stamps = this.#stamps
    const stamp = ++this.#stamp
    const end = (job + 1) * NEIGHBOURS
    for (let at = job * NEIGHBOURS; at < end; at++) {
      const near = state.neighbours[at]!
      if (near < 0) break
      if (route[near]! < 0) continue
      if (stamps[near] !== stamp) {
        stamps[near] = stamp
        spots[count++] = near
      }
      const behind = prev[near]!
      if (stamps[behind] !== stamp) {
        stamps[behind] = stamp
        spots[count++] = behind
      }
    }
    return count
  }

  /** The node behind which a job costs least; -1: no place is allowed. */
  #best(job: number, all: boolean): number {
    const state = this.#state
    const { model, next, route, done, late, way } = state
    const { places, metres, seconds, metresTo, secondsTo, leave, arrive, jobs, perMetre, perSecond } = model
    const spots = this.#spots
    const count = this.#collect(job, all)
    const row = leave[job]! * places
    const service = model.service[job]!
    let [least, found] = [Infinity, -1]
    for (let at = 0; at < count; at++) {
      const behind = spots[at]!
      const before = next[behind]!
      const vehicle = route[behind]!
      const [from, to] = [leave[behind]!, arrive[before]!]
      const far = metresTo[row + from]! + metres[row + to]!
      const long = secondsTo[row + from]! + seconds[row + to]!
      let cost = perMetre[vehicle]! * far + perSecond[vehicle]! * long
      cost += before === behind ? model.fixed[vehicle]! : -way[behind]!
      if (cost >= least || model.allowed[model.kind[vehicle]! * jobs + job] === 0) continue
      if (!this.#holds(job, vehicle)) continue
      const begin = model.beginAt(job, done[behind]! + secondsTo[row + from]!)
      if (begin + service + seconds[row + to]! > late[before]!) continue
      if (!this.#short(job, vehicle, behind, far, long)) continue
      if (this.#random.next() < BLINKS) continue
      least = cost
      found = behind
    }
    return found
  }

  #holds(job: number, vehicle: number): boolean {
    const { load, model } = this.#state
    const { dimensions, demand, capacity } = model
    for (let d = 0; d < dimensions; d++) {
      const at = vehicle * dimensions + d
      if (load[at]! + demand[job * dimensions + d]! > capacity[at]!) return false
    }
    return true
  }

  /** Says whether a route holds its longest distance and duration, with a job more behind a node. */
  #short(job: number, vehicle: number, behind: number, far: number, long: number): boolean {
    const state = this.#state
    const { model } = state
    const [most, longest] = [model.maxMetres[vehicle]!, model.maxSeconds[vehicle]!]
    if (most === Infinity && longest === Infinity) return true
    const depot = model.jobs + vehicle
    const [before, isUsed] = [state.next[behind]!, state.next[depot] !== depot]
    const [saved, spared] = isUsed ? [model.distance(behind, before), model.travel(behind, before)] : [0, 0]
    if (state.metres[vehicle]! + far - saved > most) return false
    if (longest === Infinity) return true
    const busy = state.driving[vehicle]! + state.working[vehicle]! + long - spared + model.service[job]!
    return busy <= longest && state.fits(vehicle, job, behind)
  }
}
