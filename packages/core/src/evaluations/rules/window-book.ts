/**
 * All windows of all meters, as the chain's prefix fills them. Whoever evaluates and whoever evaluates again keep the same book.
 *
 * A contribution belongs to a meter and key, not to a length of window: the length is that of the version in force when it is asked. Spec: `envelope/1` section 6; decision 0025.
 */
import type { WindowState } from "../../envelopes/rules/meter-reading.ts"
import { SlidingWindow } from "../../envelopes/rules/meters.ts"

/** What one evaluation adds to one window. */
export interface Reservation {
  /** The meter, as its envelope calls it; of a version on trial with `shadow:` before it. */
  readonly meter: string
  /** `mtr_…`: which meter and key. */
  readonly window: string
  readonly amount: number
}

interface Entry {
  readonly seq: number
  readonly atMs: number
  amount: number
  isVoid: boolean
}

interface Ledger {
  readonly entries: Array<Entry>
  /** By length in ms. `askedMs`: the time it was asked for last, which a later contribution may lie before: another process asked the clock before it. */
  readonly windows: Map<number, { readonly sums: SlidingWindow; askedMs: number }>
  /** Time of the newest contribution; those of one window never fall. */
  latestMs: number
}

/** The book. */
export class WindowBook {
  readonly #ledgers = new Map<string, Ledger>()
  readonly #bySeq = new Map<number, ReadonlyArray<Reservation>>()

  /** What a window of this length holds at a time, which is none before its newest contribution. Times that rise are answered at once, others by counting. */
  state(window: string, windowMs: number, atMs: number): WindowState {
    const ledger = this.#ledgers.get(window)
    if (ledger === undefined) return empty
    const found = ledger.windows.get(windowMs) ?? filled(ledger, windowMs)
    if (atMs < found.askedMs) return counted(ledger, windowMs, atMs)
    found.askedMs = atMs
    return found.sums.state(atMs)
  }

  /** The time of what was added last; the times of a window go on from there. */
  latestMs(window: string): number {
    return this.#ledgers.get(window)?.latestMs ?? 0
  }

  /** Adds what the evaluation at `seq` reserved, at its own time. */
  reserve(seq: number, atMs: number, reservations: ReadonlyArray<Reservation>): void {
    if (reservations.length === 0) return
    this.#bySeq.set(seq, reservations)
    for (const { amount, window } of reservations) {
      const ledger = this.#ledgers.get(window) ?? this.#opened(window)
      ledger.entries.push({ seq, atMs, amount, isVoid: false })
      ledger.latestMs = Math.max(ledger.latestMs, atMs)
      for (const [windowMs, one] of ledger.windows) {
        if (atMs < one.askedMs) ledger.windows.delete(windowMs)
        else one.sums.reserve({ evaluationId: String(seq), atMs, amount })
      }
    }
  }

  /** What an evaluation reserved; nothing for one that is not in the book. */
  reserved(seq: number): ReadonlyArray<Reservation> {
    return this.#bySeq.get(seq) ?? []
  }

  /** Replaces what an evaluation added to a meter by what it came to, on trial too. */
  settle(seq: number, meter: string, actual: number): void {
    for (const { entry, ledger } of this.#entriesOf(seq, (name) => name === meter || name === `shadow:${meter}`)) {
      if (entry.isVoid) continue
      entry.amount = actual
      for (const { sums } of ledger.windows.values()) sums.settle(String(seq), actual)
    }
  }

  /** Takes away all that an evaluation added. */
  void(seq: number): void {
    for (const { entry, ledger } of this.#entriesOf(seq, () => true)) {
      entry.isVoid = true
      for (const { sums } of ledger.windows.values()) sums.void(String(seq))
    }
  }

  /** Forgets what is older than a time. Windows that reach farther back must not be asked for any more. */
  forget(beforeMs: number): void {
    for (const [window, ledger] of this.#ledgers) {
      const first = ledger.entries.findIndex((entry) => entry.atMs > beforeMs)
      const gone = ledger.entries.splice(0, first < 0 ? ledger.entries.length : first)
      for (const { seq } of gone) this.#bySeq.delete(seq)
      if (ledger.entries.length === 0) this.#ledgers.delete(window)
    }
  }

  #opened(window: string): Ledger {
    const ledger: Ledger = { entries: [], windows: new Map(), latestMs: 0 }
    this.#ledgers.set(window, ledger)
    return ledger
  }

  #entriesOf(seq: number, picks: (meter: string) => boolean): ReadonlyArray<{ readonly ledger: Ledger; readonly entry: Entry }> {
    return this.reserved(seq).flatMap(({ meter, window }) => {
      const ledger = picks(meter) ? this.#ledgers.get(window) : undefined
      const entry = ledger === undefined ? undefined : entryAt(ledger.entries, seq)
      return ledger === undefined || entry === undefined ? [] : [{ ledger, entry }]
    })
  }
}

/** Entries stand in the order of their seqs. */
const entryAt = (entries: ReadonlyArray<Entry>, seq: number): Entry | undefined => {
  let low = 0
  for (let high = entries.length; low < high;) {
    const middle = (low + high) >>> 1
    if (entries[middle]!.seq < seq) low = middle + 1
    else high = middle
  }
  return entries[low]?.seq === seq ? entries[low] : undefined
}

const empty: WindowState = { value: 0, count: 0 }

/** The same by going through all that was added. */
const counted = ({ entries }: Ledger, windowMs: number, atMs: number): WindowState => {
  const inside = entries.filter((entry) => !entry.isVoid && entry.atMs > atMs - windowMs && entry.atMs <= atMs)
  return { value: inside.reduce((sum, { amount }) => sum + amount, 0), count: inside.length }
}

/** A window of a length that was not asked for before. */
const filled = (ledger: Ledger, windowMs: number): { readonly sums: SlidingWindow; askedMs: number } => {
  const sums = new SlidingWindow(windowMs)
  for (const { amount, atMs, isVoid, seq } of ledger.entries) if (!isVoid) sums.reserve({ evaluationId: String(seq), atMs, amount })
  const made = { sums, askedMs: ledger.latestMs }
  ledger.windows.set(windowMs, made)
  return made
}
