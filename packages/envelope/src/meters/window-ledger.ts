/**
 * The ledger of one meter and key: its contributions, and the sums of its windows of each length in use. Spec:
 * `envelope/1` section 6; decision 0025.
 */
import type { WindowState } from "./meter-reading.ts"
import { WindowSum } from "./window-sum.ts"
import { WindowRing } from "./window-ring.ts"

/** A window of one length. Contributions before `from` have left it. */
interface Length {
  readonly windowMs: number
  /** The time of its last read. A later contribution may be earlier: another process read the clock before it. */
  readMs: number
  from: number
  readonly held: WindowSum
}

/** The ledger of a window, `mtr_…`. Units: milliseconds since 1970 UTC. */
export class WindowLedger {
  readonly window: string
  /** Time of the newest contribution; those of one window never fall. */
  latestMs = 0
  /** Owner of the window, where the reader records it: the ledgers of a meter by key, and the key. */
  owner: Map<string, WindowLedger> | null = null
  key = ""
  /** The time of its last read, where a reader notes it. */
  usedMs = 0
  /** The time of the last evaluation that may have added to it and was not recomputed. */
  unprovedMs = Number.NEGATIVE_INFINITY
  readonly #ring = new WindowRing()
  /** Nearly always one. */
  readonly #lengths: Array<Length> = []

  constructor(window: string) {
    this.window = window
  }

  get isEmpty(): boolean {
    return this.#ring.first === this.#ring.end
  }

  /** True when it still holds the contribution of an evaluation, removed or not. */
  holds(seq: number): boolean {
    return this.#ring.placeOf(seq) >= 0
  }

  /**
   * Sum of a window of this length at a time, valid until the next contribution. Rising times cost a constant; others
   * count every contribution.
   */
  state(windowMs: number, atMs: number): WindowState {
    const length = this.#lengthOf(windowMs) ?? this.#newLength(windowMs)
    if (atMs < length.readMs || atMs < this.latestMs) return this.#counted(windowMs, atMs)
    length.readMs = atMs
    const ring = this.#ring
    while (length.from < ring.end && ring.atMs(length.from) <= atMs - windowMs) this.#slideOut(length)
    return length.held
  }

  #lengthOf(windowMs: number): Length | null {
    const lengths = this.#lengths
    for (let i = 0; i < lengths.length; i++) if (lengths[i]!.windowMs === windowMs) return lengths[i]!
    return null
  }

  /** Adds the contribution of an evaluation. */
  reserve(seq: number, atMs: number, amount: number): void {
    this.#ring.add(seq, atMs, amount)
    this.latestMs = Math.max(this.latestMs, atMs)
    for (const length of this.#lengths) length.held.add(amount)
  }

  /**
   * Replaces the contribution of an evaluation by the settled amount; does nothing where it was removed or has left the
   * window. Answers false, and does nothing, where the amount is less and may not be.
   */
  settle(seq: number, actual: number, mayLower: boolean): boolean {
    const place = this.#ring.placeOf(seq)
    const amount = place < 0 ? Number.NaN : this.#ring.amount(place)
    if (Number.isNaN(amount)) return true
    if (actual < amount && !mayLower) return false
    this.#ring.setAmount(place, actual)
    for (const length of this.#lengths) if (place >= length.from) length.held.replace(amount, actual)
    return true
  }

  /** Removes the contribution of an evaluation. */
  void(seq: number): void {
    const place = this.#ring.placeOf(seq)
    const amount = place < 0 ? Number.NaN : this.#ring.amount(place)
    if (Number.isNaN(amount)) return
    this.#ring.setAmount(place, Number.NaN)
    for (const length of this.#lengths) if (place >= length.from) length.held.remove(amount)
  }

  /** Drops contributions at or before a time. */
  forget(beforeMs: number): void {
    const ring = this.#ring
    while (!this.isEmpty && ring.atMs(ring.first) <= beforeMs) {
      for (const length of this.#lengths) if (length.from === ring.first) this.#slideOut(length)
      ring.drop()
    }
  }

  #slideOut(length: Length): void {
    const amount = this.#ring.amount(length.from++)
    if (!Number.isNaN(amount)) length.held.remove(amount)
  }

  #newLength(windowMs: number): Length {
    const length: Length = {
      windowMs,
      readMs: this.latestMs,
      from: this.#ring.first,
      held: this.#counted(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
    }
    this.#lengths.push(length)
    return length
  }

  /** Computes the same sum by reading every contribution. */
  #counted(windowMs: number, atMs: number): WindowSum {
    const held = new WindowSum()
    for (let place = this.#ring.first; place < this.#ring.end; place++) {
      const amount = this.#ring.amount(place)
      const entryMs = this.#ring.atMs(place)
      if (
        Number.isNaN(amount) ||
        entryMs > atMs ||
        (windowMs !== Number.POSITIVE_INFINITY && entryMs <= atMs - windowMs)
      )
        continue
      held.add(amount)
    }
    return held
  }
}
