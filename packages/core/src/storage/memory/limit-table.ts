/** Rows of rate limits in memory: those of the memory store, and those that the writer of SQLite has read. */
import { type LimitRequest, LIMITS_SWEEP_MS, rowEndS, type RowState, type Taken, takeLimits } from "../limits/slots.ts"

/** Rows by subject. */
export class LimitTable {
  readonly #rows = new Map<string, RowState>()
  #sweptMs = 0

  /** Answers requests, and deletes rows that have ended from time to time. */
  take(requests: ReadonlyArray<LimitRequest>, nowMs: number): ReadonlyArray<Taken> {
    const { changed, taken } = takeLimits((subject) => this.#rows.get(subject), requests, nowMs)
    for (const [subject, state] of changed) this.#rows.set(subject, state)
    if (Math.abs(nowMs - this.#sweptMs) >= LIMITS_SWEEP_MS) {
      this.#sweptMs = nowMs
      for (const [subject, state] of this.#rows) if (rowEndS(state) * 1000 < nowMs) this.#rows.delete(subject)
    }
    return taken
  }
}
