/**
 * Windows of meters: a fold over contributions, kept as running sums. Backtests and vectors run it; the live service
 * and the verifier run `WindowLedger` of `@flyball/rules`, on the same sums.
 *
 * Spec: `SPEC.md` section 6.
 */
import type { WindowState } from "./meter-reading.ts"
import { WindowSum } from "./window-sum.ts"

/** Contribution of an allowed evaluation to one window. */
export interface Contribution {
  readonly evaluationId: string
  /** Time of its record; never below that of the one before. */
  readonly atMs: number
  readonly amount: number
}

interface Entry {
  readonly evaluationId: string
  readonly atMs: number
  amount: number
  isVoid: boolean
}

/**
 * The contributions of one meter and key, in the order of their records.
 *
 * `state(t)` is the sum and count of contributions with time in (t - W, t]. Times of reads never fall, nor those of
 * contributions ({@link SlidingWindow.latestMs} is their lower bound), so each entry is added once and dropped once.
 */
export class SlidingWindow {
  readonly #windowMs: number
  readonly #byId = new Map<string, Entry>()
  #entries: Array<Entry> = []
  #first = 0
  readonly #held = new WindowSum()
  #latestMs = Number.NEGATIVE_INFINITY

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** The latest time of a read or an addition. */
  get latestMs(): number {
    return this.#latestMs
  }

  /** Sum of the window at a time. */
  state(atMs: number): WindowState {
    this.#advance(atMs)
    return { value: this.#held.value, count: this.#held.count }
  }

  /** Adds a reservation. Its evaluation must be new here. */
  reserve({ amount, atMs, evaluationId }: Contribution): void {
    if (this.#byId.has(evaluationId))
      throw new RangeError("An evaluation contributes once to a window; this one already did.")
    this.#advance(atMs)
    const entry = { evaluationId, atMs, amount, isVoid: false }
    this.#entries.push(entry)
    this.#byId.set(evaluationId, entry)
    this.#held.add(amount)
  }

  /** Replaces a reservation by what it came to, at its own time. False when the window no longer holds it. */
  settle(evaluationId: string, actual: number): boolean {
    const entry = this.#byId.get(evaluationId)
    if (entry === undefined) return false
    this.#held.replace(entry.amount, actual)
    entry.amount = actual
    return true
  }

  /** Takes a reservation away. False when the window no longer holds it. */
  void(evaluationId: string): boolean {
    const entry = this.#byId.get(evaluationId)
    if (entry === undefined) return false
    this.#drop(entry)
    entry.isVoid = true
    return true
  }

  #advance(atMs: number): void {
    if (atMs < this.#latestMs) throw new RangeError("Times of a meter never fall.")
    this.#latestMs = atMs
    const entries = this.#entries
    while (this.#first < entries.length && entries[this.#first]!.atMs <= atMs - this.#windowMs) {
      const entry = entries[this.#first++]!
      if (!entry.isVoid) this.#drop(entry)
    }
    // Half of the list is past: what is left moves to the front, which costs each entry one move at most.
    if (this.#first > 32 && this.#first * 2 > entries.length) {
      this.#entries = entries.slice(this.#first)
      this.#first = 0
    }
  }

  #drop(entry: Entry): void {
    this.#held.remove(entry.amount)
    this.#byId.delete(entry.evaluationId)
  }
}

/** All windows of some meters: what a service keeps, and what a verifier recomputes. */
export class MeterBook {
  readonly #windows = new Map<string, SlidingWindow>()

  /** The window of a meter and key, empty when there was none. */
  window(meter: { readonly id: string; readonly windowMs: number }, key: string): SlidingWindow {
    const name = `${meter.id} ${meter.windowMs} ${key}`
    const found = this.#windows.get(name)
    if (found !== undefined) return found
    const window = new SlidingWindow(meter.windowMs)
    this.#windows.set(name, window)
    return window
  }
}
