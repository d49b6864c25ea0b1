/** Searches for routes by simulated annealing, in steps that a trace repeats on any machine. */
import { generator, type Generator32, SEED_BYTES } from "@flyball/statistics"
import type { RoutingMatrix } from "./matrix.ts"
import { Model } from "./model.ts"
import { type Best, planOf } from "./plan.ts"
import type { RoutePlan, RoutingProblem, SolveTrace } from "./problem.ts"
import { Recreator } from "./recreate.ts"
import { ruin } from "./ruin.ts"
import { State } from "./state.ts"

/** How the clock bounds a search, and how its owner follows it. */
export interface SolveOptions {
  readonly seed: string
  /** The search ends when this has passed. Unit: milliseconds of `now`. */
  readonly maxMs: number
  readonly now: () => number
  /** Called between iterations; true ends the search with the best plan so far. */
  readonly stop: () => boolean
  /** Gets the first plan, and then better ones, at most {@link REPORTS} over the whole time. */
  readonly onBest?: (plan: RoutePlan) => void
}

/** Plans that a search reports at most, behind the first. */
const REPORTS = 20

/** Iterations between two readings of the clock. The first that fits a budget to it; the next are a quarter later. */
const [CLOCK_EVERY, FIRST_FIT] = [32, 500]

/** Iterations that the first budget supposes for each millisecond. */
const SUPPOSED_RATE = 20

/**
 * Iterations behind which no search goes on, whatever its clock says: few jobs are soon planned. Which kinds of
 * vehicles to use is found late, by many routes emptied as a whole.
 */
const mostIterations = (jobs: number, kinds: number): number =>
  Math.min(2 ** 31 - 1, (1_500 * jobs + 2 * jobs ** 3) * Math.min(jobs, kinds) ** 2)

/** Temperature at the start where jobs have windows, in mean costs of a way between two stops; else it is one. */
const TIMED_HEAT = 3

/** Temperature at the end, as a share of the one at the start. */
const COOLING = 0.01

/** Parts of the cooling, and of the numbers between 0 and 1 whose logarithm is drawn. Both are powers of two. */
const [COOLING_PARTS, LOG_PARTS] = [1_024, 4_096]

/** Searches until the time is over. `trace` finds the same plan again. */
export const solveRoutes = (
  problem: RoutingProblem,
  matrix: RoutingMatrix,
  options: SolveOptions
): { readonly plan: RoutePlan; readonly trace: SolveTrace } => {
  const { seed, maxMs, now, stop, onBest } = options
  const startedAt = now()
  const search = new Search(problem, matrix, seed)
  onBest?.(search.plan())
  const searchedAt = now()
  let [reportedAt, reported] = [searchedAt, search.best.at]
  const schedule: Array<{ readonly at: number; readonly until: number }> = []
  let [at, nextFit, until] = [0, 0, 0]
  for (; ; at++) {
    if (at === nextFit) {
      const rate = at === 0 ? SUPPOSED_RATE : at / Math.max(0.001, now() - searchedAt)
      const remaining = Math.max(0, maxMs - (now() - startedAt))
      until = Math.min(search.most, at + 1 + Math.floor(rate * remaining))
      schedule.push({ at, until })
      nextFit = at === 0 ? FIRST_FIT : at + (at >> 2)
    }
    if (at >= until) break
    if (at % CLOCK_EVERY === 0) {
      const time = now()
      if (stop() || time - startedAt >= maxMs) break
      if (onBest !== undefined && search.best.at !== reported && time - reportedAt >= maxMs / REPORTS) {
        onBest(search.plan())
        reportedAt = time
        reported = search.best.at
      }
    }
    search.step(at, until)
  }
  return { plan: search.plan(), trace: { seed, iterations: at, schedule } }
}

/** Repeats a search without a clock, at most `maxSteps` iterations of it. A whole one gives the same bytes. */
export const replayRoutes = (
  problem: RoutingProblem,
  matrix: RoutingMatrix,
  trace: SolveTrace,
  maxSteps: number = trace.iterations
): RoutePlan => {
  const search = new Search(problem, matrix, trace.seed)
  let [until, fitted] = [1, 0]
  for (let at = 0; at < Math.min(trace.iterations, maxSteps); at++) {
    while (trace.schedule[fitted]?.at === at) until = trace.schedule[fitted++]!.until
    search.step(at, until)
  }
  return search.plan()
}

/** A search: the routes it is at, and the best it has met. */
class Search {
  readonly best: Best
  readonly most: number
  readonly #state: State
  readonly #random: Generator32
  readonly #recreator: Recreator
  readonly #jobs: ReadonlyArray<number>
  readonly #heat: number

  constructor(problem: RoutingProblem, matrix: RoutingMatrix, seed: string) {
    const model = new Model(problem, matrix)
    this.#random = generator(seedBytes(seed))
    this.#state = new State(model)
    this.#recreator = new Recreator(this.#state, this.#random)
    this.#jobs = [...problem.jobs.keys()].filter((job) => isPossible(model, job))
    this.most = mostIterations(this.#jobs.length, model.kinds)
    for (const job of this.#jobs) this.#state.left += model.weight[job]!
    this.#recreator.construct(this.#jobs)
    this.best = { next: new Int32Array(model.jobs + model.vehicles), cost: 0, left: 0, at: 0 }
    const isTimed = problem.jobs.some(({ windows }) => windows.length > 0)
    this.#heat = meanEdge(this.#state) * (isTimed ? TIMED_HEAT : 1)
    this.#keep(0)
  }

  plan(): RoutePlan {
    return planOf(this.#state.model, this.best.next)
  }

  /** One iteration of a budget: ruins, recreates, and keeps or takes back. */
  step(at: number, until: number): void {
    const state = this.#state
    if (this.#jobs.length === 0) return
    const { cost, left } = state
    const kept = state.pool.length
    state.begin()
    const holds = ruin(state, this.#random, this.#jobs[this.#random.below(this.#jobs.length)]!)
    if (holds) this.#recreator.recreate(kept)
    const part = Math.min(COOLING_PARTS, Math.floor((COOLING_PARTS * at) / until))
    const worse = this.#heat * cooling[part]! * logs[this.#random.below(LOG_PARTS)]!
    if (!holds || state.left > left || (state.left === left && state.cost > cost + worse)) return state.rollback()
    const { best } = this
    if (state.left < best.left || (state.left === best.left && state.cost < best.cost)) this.#keep(at + 1)
  }

  #keep(at: number): void {
    this.best.next.set(this.#state.next)
    this.best.cost = this.#state.cost
    this.best.left = this.#state.left
    this.best.at = at
  }
}

const isPossible = (model: Model, job: number): boolean => {
  for (let kind = 0; kind < model.kinds; kind++) if (model.allowed[kind * model.jobs + job] === 1) return true
  return false
}

const meanEdge = (state: State): number => {
  const { model } = state
  let [cost, edges] = [0, 0]
  for (let vehicle = 0; vehicle < model.vehicles; vehicle++) {
    if (state.count[vehicle] === 0) continue
    cost += model.perMetre[vehicle]! * state.metres[vehicle]! + model.perSecond[vehicle]! * state.driving[vehicle]!
    edges += state.count[vehicle]! + 1
  }
  return cost / Math.max(1, edges)
}

/** The bytes of a generator from a text of any length: four runs of FNV-1a, each from a start of its own. */
const seedBytes = (seed: string): Uint8Array => {
  const words = new Uint32Array(SEED_BYTES / 4)
  for (let word = 0; word < words.length; word++) {
    let hash = Math.imul(0x9e3779b9, word + 1) ^ 0x811c9dc5
    for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    words[word] = (hash ^ (hash >>> 13)) | 1
  }
  const bytes = new Uint8Array(SEED_BYTES)
  const view = new DataView(bytes.buffer)
  words.forEach((word, at) => view.setUint32(4 * at, word, true))
  return bytes
}

/** Powers of the cooling, by square roots: their results are the same on every machine, unlike those of `Math.pow`. */
const cooling = ((): Float64Array => {
  let root = COOLING
  for (let parts = COOLING_PARTS; parts > 1; parts /= 2) root = Math.sqrt(root)
  const powers = new Float64Array(COOLING_PARTS + 1)
  powers[0] = 1
  for (let part = 1; part <= COOLING_PARTS; part++) powers[part] = powers[part - 1]! * root
  return powers
})()

/** `-ln((k + 1/2) / LOG_PARTS)` by the series of the inverse hyperbolic tangent, whole halvings taken out first. */
const logs = ((): Float64Array => {
  const atanh2 = (z: number): number => {
    let [term, sum] = [z, 0]
    for (let k = 1; k < 40; k += 2) {
      sum += term / k
      term *= z * z
    }
    return 2 * sum
  }
  const ln2 = atanh2(1 / 3)
  return Float64Array.from({ length: LOG_PARTS }, (_, k) => {
    let [x, halvings] = [(k + 0.5) / LOG_PARTS, 0]
    for (; x < 1; halvings++) x *= 2
    return halvings * ln2 - atanh2((x - 1) / (x + 1))
  })
})()
