/** Routes as linked lists in typed arrays, with times, loads and costs, and a journal that takes an iteration back. */
import { type Model, neighboursOf } from "./model.ts"

/** The routes that the search changes. A route is the ring of its vehicle's node and the jobs. */
export class State {
  readonly model: Model
  readonly next: Int32Array
  readonly prev: Int32Array
  /** The vehicle of a node; -1: a job that is in no route. */
  readonly route: Int32Array
  /** When a node is left at the earliest, and begun at the latest. */
  readonly done: Float64Array
  readonly late: Float64Array
  /** The cost of the way from a node to the next. */
  readonly way: Float64Array
  readonly load: Float64Array
  readonly count: Int32Array
  readonly metres: Float64Array
  readonly driving: Float64Array
  readonly working: Float64Array
  /** Jobs that wait for a route. */
  readonly pool: Array<number> = []
  cost = 0
  /** Weights of the jobs that are in no route. */
  left = 0
  /** Vehicles kind by kind; in each kind those with stops first. */
  readonly ranked: Int32Array
  readonly rank: Int32Array
  readonly firstFree: Int32Array
  readonly lastOfKind: Int32Array
  readonly scratch: Int32Array
  readonly neighbours: Int32Array
  readonly #journal: Int32Array
  readonly #journalTimes: Float64Array
  readonly #journalSums: Float64Array
  readonly #touched: Array<number> = []
  readonly #seen: Uint8Array
  #journalEnd = 0
  #before = { cost: 0, left: 0, pool: [] as Array<number> }

  constructor(model: Model) {
    const { jobs, vehicles, dimensions } = model
    const nodes = jobs + vehicles
    this.model = model
    this.next = Int32Array.from({ length: nodes }, (_, node) => node)
    this.prev = this.next.slice()
    this.route = Int32Array.from({ length: nodes }, (_, node) => Math.max(-1, node - jobs))
    this.done = new Float64Array(nodes)
    this.late = new Float64Array(nodes)
    this.way = new Float64Array(nodes)
    this.done.set(model.shiftFrom, jobs)
    this.late.set(model.shiftTo, jobs)
    this.load = new Float64Array(vehicles * dimensions)
    this.count = new Int32Array(vehicles)
    this.metres = new Float64Array(vehicles)
    this.driving = new Float64Array(vehicles)
    this.working = new Float64Array(vehicles)
    this.ranked = Int32Array.from({ length: vehicles }, (_, at) => at).sort(
      (a, b) => model.kind[a]! - model.kind[b]! || a - b
    )
    this.rank = new Int32Array(vehicles)
    this.firstFree = new Int32Array(model.kinds)
    this.lastOfKind = new Int32Array(model.kinds)
    for (let at = vehicles - 1; at >= 0; at--) this.firstFree[model.kind[this.ranked[at]!]!] = at
    this.ranked.forEach((vehicle, at) => {
      this.rank[vehicle] = at
      this.lastOfKind[model.kind[vehicle]!] = at
    })
    this.neighbours = neighboursOf(model)
    this.scratch = new Int32Array(jobs + 1)
    this.#journal = new Int32Array(jobs)
    this.#journalTimes = new Float64Array(3 * jobs)
    this.#journalSums = new Float64Array(vehicles * (5 + dimensions))
    this.#seen = new Uint8Array(vehicles)
  }

  /** Opens an iteration that `rollback` can take back. */
  begin(): void {
    for (const vehicle of this.#touched) this.#seen[vehicle] = 0
    this.#touched.length = 0
    this.#journalEnd = 0
    this.#before = { cost: this.cost, left: this.left, pool: this.pool.slice() }
  }

  /** Notes a route in the journal, before its first change. */
  touch(vehicle: number): void {
    if (this.#seen[vehicle] === 1) return
    this.#seen[vehicle] = 1
    this.#touched.push(vehicle)
    const { dimensions, jobs } = this.model
    for (let node = this.next[jobs + vehicle]!; node < jobs; node = this.next[node]!) {
      const at = this.#journalEnd++
      this.#journal[at] = node
      this.#journalTimes[3 * at] = this.done[node]!
      this.#journalTimes[3 * at + 1] = this.late[node]!
      this.#journalTimes[3 * at + 2] = this.way[node]!
    }
    const sums = this.#journalSums
    const base = vehicle * (5 + dimensions)
    sums[base] = this.count[vehicle]!
    sums[base + 1] = this.metres[vehicle]!
    sums[base + 2] = this.driving[vehicle]!
    sums[base + 3] = this.working[vehicle]!
    sums[base + 4] = this.way[jobs + vehicle]!
    for (let d = 0; d < dimensions; d++) sums[base + 5 + d] = this.load[vehicle * dimensions + d]!
  }

  /** Takes back all that has changed since `begin`. */
  rollback(): void {
    const { dimensions, jobs } = this.model
    for (const vehicle of this.#touched)
      for (let node = this.next[jobs + vehicle]!; node < jobs; node = this.next[node]!) this.route[node] = -1
    let at = 0
    for (const vehicle of this.#touched) {
      const base = vehicle * (5 + dimensions)
      const sums = this.#journalSums
      const count = sums[base]!
      if ((count === 0) !== (this.count[vehicle] === 0)) this.#setUsed(vehicle, count > 0)
      this.count[vehicle] = count
      this.metres[vehicle] = sums[base + 1]!
      this.driving[vehicle] = sums[base + 2]!
      this.working[vehicle] = sums[base + 3]!
      for (let d = 0; d < dimensions; d++) this.load[vehicle * dimensions + d] = sums[base + 5 + d]!
      this.way[jobs + vehicle] = sums[base + 4]!
      let last = jobs + vehicle
      for (const end = at + count; at < end; at++) {
        const node = this.#journal[at]!
        this.done[node] = this.#journalTimes[3 * at]!
        this.late[node] = this.#journalTimes[3 * at + 1]!
        this.way[node] = this.#journalTimes[3 * at + 2]!
        this.route[node] = vehicle
        this.#link(last, node)
        last = node
      }
      this.#link(last, jobs + vehicle)
    }
    this.cost = this.#before.cost
    this.left = this.#before.left
    this.pool.length = 0
    this.pool.push(...this.#before.pool)
  }

  /** Puts a job behind a node, at a place that `recreate` found to be allowed. */
  insert(job: number, behind: number): void {
    const { model } = this
    const vehicle = this.route[behind]!
    const before = this.next[behind]!
    this.touch(vehicle)
    if (this.count[vehicle] === 0) {
      this.#setUsed(vehicle, true)
      this.cost += model.fixed[vehicle]!
    } else this.#drive(vehicle, behind, before, -1)
    this.way[behind] = this.#drive(vehicle, behind, job, 1)
    this.way[job] = this.#drive(vehicle, job, before, 1)
    this.#carry(vehicle, job, 1)
    this.#link(behind, job)
    this.#link(job, before)
    this.route[job] = vehicle
    this.left -= model.weight[job]!
    this.#forward(job)
    this.#backward(job)
  }

  /** Takes a job out of its route. The times of the route are those before, until `refresh`. */
  remove(job: number): void {
    const { model } = this
    const vehicle = this.route[job]!
    const [behind, before] = [this.prev[job]!, this.next[job]!]
    this.touch(vehicle)
    this.#drive(vehicle, behind, job, -1)
    this.#drive(vehicle, job, before, -1)
    this.#carry(vehicle, job, -1)
    if (this.count[vehicle] === 0) {
      this.#setUsed(vehicle, false)
      this.cost -= model.fixed[vehicle]!
    } else this.way[behind] = this.#drive(vehicle, behind, before, 1)
    this.#link(behind, before)
    this.route[job] = -1
    this.left += model.weight[job]!
    this.pool.push(job)
  }

  /** Computes the times of a route anew. False: without a job that it had, it is too late, too far or too long. */
  refresh(vehicle: number): boolean {
    const { model } = this
    const depot = model.jobs + vehicle
    if (this.count[vehicle] === 0) return true
    this.#forward(this.next[depot]!, true)
    this.#backward(this.prev[depot]!, true)
    const last = this.prev[depot]!
    return (
      this.done[last]! + model.travel(last, depot) <= model.shiftTo[vehicle]! &&
      this.metres[vehicle]! <= model.maxMetres[vehicle]! &&
      (model.maxSeconds[vehicle] === Infinity || this.fits(vehicle, -1, -1))
    )
  }

  /** Says whether a route holds its longest duration, with a job more behind a node. */
  fits(vehicle: number, job: number, behind: number): boolean {
    const { model, scratch } = this
    const depot = model.jobs + vehicle
    let length = 0
    for (let node = depot; ;) {
      if (node === behind) scratch[length++] = job
      node = this.next[node]!
      if (node === depot) break
      scratch[length++] = node
    }
    return model.times(vehicle, scratch, length) && model.end - model.start <= model.maxSeconds[vehicle]!
  }

  #link(from: number, to: number): void {
    this.next[from] = to
    this.prev[to] = from
  }

  /** Adds a way to the sums of a route, or with sign -1 takes it off. Answers what was added to the cost. */
  #drive(vehicle: number, from: number, to: number, sign: number): number {
    const { model } = this
    const at = model.leave[from]! * model.places + model.arrive[to]!
    const [metres, seconds] = [sign * model.metres[at]!, sign * model.seconds[at]!]
    this.metres[vehicle]! += metres
    this.driving[vehicle]! += seconds
    const cost = model.perMetre[vehicle]! * metres + model.perSecond[vehicle]! * seconds
    this.cost += cost
    return cost
  }

  #carry(vehicle: number, job: number, sign: number): void {
    const { dimensions, demand, service } = this.model
    for (let d = 0; d < dimensions; d++) this.load[vehicle * dimensions + d]! += sign * demand[job * dimensions + d]!
    this.working[vehicle]! += sign * service[job]!
    this.count[vehicle]! += sign
  }

  /** Moves a vehicle over the border between those of its kind that have stops and those that have none. */
  #setUsed(vehicle: number, used: boolean): void {
    const kind = this.model.kind[vehicle]!
    const border = used ? this.firstFree[kind]!++ : --this.firstFree[kind]!
    const [at, other] = [this.rank[vehicle]!, this.ranked[border]!]
    this.ranked[at] = other
    this.rank[other] = at
    this.ranked[border] = vehicle
    this.rank[vehicle] = border
  }

  /** Earliest times from a job on, until one stays as it was. */
  #forward(from: number, whole = false): void {
    const { model, done, prev, next } = this
    const { jobs, service } = model
    for (let node = from; node < jobs; node = next[node]!) {
      const behind = prev[node]!
      const time = model.beginAt(node, done[behind]! + model.travel(behind, node)) + service[node]!
      if (time === done[node] && node !== from && !whole) return
      done[node] = time
    }
  }

  /** Latest times from a job back, until one stays as it was. */
  #backward(from: number, whole = false): void {
    const { model, late, prev, next } = this
    const { jobs, service } = model
    for (let node = from; node < jobs; node = prev[node]!) {
      const before = next[node]!
      const time = model.latestBegin(node, late[before]! - model.travel(node, before) - service[node]!)
      if (time === late[node] && node !== from && !whole) return
      late[node] = time
    }
  }
}
