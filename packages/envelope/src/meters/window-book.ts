/**
 * All windows of all meters, folded from the records so far. The live service and recomputation keep the same book.
 *
 * A contribution belongs to a meter and key, not to a length of window: the length is that of the version in force at
 * the read. Spec: `envelope/1` section 6; decision 0025.
 */
import type { WindowState } from "./meter-reading.ts"
import { ReservedWindows } from "./reserved-windows.ts"
import { WindowLedger } from "./window-ledger.ts"

/** Contribution of one evaluation to one window. Spec: `envelope/1` section 6. */
export interface Reservation {
  /** The meter, as its envelope calls it; of a version on trial with `shadow:` before it. */
  readonly meter: string
  /** `mtr_…`: which meter and key. */
  readonly window: string
  readonly amount: number
}

/** The windows of meters, as records fill them. Spec: `envelope/1` section 6; decision 0025. */
export class WindowBook {
  readonly #ledgers = new Map<string, WindowLedger>()
  readonly #reserved = new ReservedWindows()

  /**
   * Sum of a window of this length at a time, which must not be before its newest contribution. Rising times cost a
   * constant; others count every contribution.
   */
  state(window: string, windowMs: number, atMs: number): WindowState {
    const { count, value } = this.#ledgers.get(window)?.state(windowMs, atMs) ?? empty
    return { value, count }
  }

  /** The time of the last contribution; the times of a window continue from there. */
  latestMs(window: string): number {
    return this.#ledgers.get(window)?.latestMs ?? 0
  }

  /** The time of the last evaluation that may have added to a window and was not recomputed. */
  unprovedMs(window: string): number {
    return this.#ledgers.get(window)?.unprovedMs ?? Number.NEGATIVE_INFINITY
  }

  /** The ledger of a window, created if it did not exist. */
  ledger(window: string): WindowLedger {
    const known = this.#ledgers.get(window)
    if (known !== undefined) return known
    const ledger = new WindowLedger(window)
    this.#ledgers.set(window, ledger)
    return ledger
  }

  /** Adds what the evaluation at `seq` reserved, at its own time, or at the last one that any of its windows has. */
  reserve(seq: number, atMs: number, reservations: ReadonlyArray<Reservation>): void {
    let timeMs = atMs
    for (let place = 0; place < reservations.length; place++) {
      const { latestMs } = this.ledger(reservations[place]!.window)
      if (latestMs > timeMs) timeMs = latestMs
    }
    for (let place = 0; place < reservations.length; place++) {
      const { amount, meter, window } = reservations[place]!
      const ledger = this.ledger(window)
      ledger.reserve(seq, timeMs, amount)
      this.#reserved.add(seq, meter, ledger)
    }
  }

  /**
   * Replaces what an evaluation added to a meter by the settled amount, on trial too. Without `mayLower` less is not
   * taken; answers false where the meter itself would be lowered.
   */
  settle(seq: number, meter: string, actual: number, mayLower: boolean): boolean {
    let isTaken = true
    this.#reserved.each(seq, (name, ledger) => {
      if (name !== meter && name !== `shadow:${meter}`) return
      if (!ledger.settle(seq, actual, mayLower) && name === meter) isTaken = false
    })
    return isTaken
  }

  /** Removes the contributions of an evaluation. */
  void(seq: number): void {
    this.#reserved.each(seq, (_, ledger) => ledger.void(seq))
  }

  /**
   * Drops contributions at or before a time, and windows that are empty and unused since. Windows that reach farther
   * back must not be read any more.
   */
  forget(beforeMs: number): void {
    for (const [window, ledger] of this.#ledgers) {
      ledger.forget(beforeMs)
      if (!ledger.isEmpty || ledger.usedMs > beforeMs || ledger.unprovedMs > beforeMs) continue
      this.#ledgers.delete(window)
      ledger.owner?.delete(ledger.key)
    }
    this.#reserved.forget()
  }
}

const empty: WindowState = { value: 0, count: 0 }
