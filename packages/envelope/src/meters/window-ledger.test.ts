/** Windows by running sums against windows by counting all that was ever added. */
import { describe, expect, it } from "vitest"
import { WindowBook } from "./window-book.ts"

interface Entry {
  readonly seq: number
  readonly atMs: number
  amount: number
  isVoid: boolean
}

describe("a window", () => {
  it("equals a plain count, through settlements, voids and forgetting", () => {
    const book = new WindowBook()
    const all: Array<Entry> = []
    // A linear congruence: the same course every time.
    let state = 20_261_122
    const below = (most: number): number => (
      (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0),
      Math.floor((state / 2 ** 32) * most)
    )
    let nowMs = 1_000
    for (let seq = 0; seq < 5_000; seq++) {
      nowMs += below(30)
      const act = below(10)
      const [about] = all.slice(-1 - below(60))
      if (act < 6) {
        book.reserve(seq, nowMs, [{ meter: "m", window: "w", amount: seq % 7 }])
        all.push({ seq, atMs: nowMs, amount: seq % 7, isVoid: false })
      } else if (act === 6 && about !== undefined) {
        book.settle(about.seq, "m", 3, true)
        if (!about.isVoid) about.amount = 3
      } else if (act === 7 && about !== undefined) {
        book.void(about.seq)
        about.isVoid = true
      } else if (act === 8) book.forget(nowMs - 700)
      for (const windowMs of [100, 700]) {
        const inside = all.filter(({ atMs, isVoid }) => !isVoid && atMs > nowMs - windowMs)
        expect(book.state("w", windowMs, nowMs)).toEqual({
          value: inside.reduce((sum, { amount }) => sum + amount, 0),
          count: inside.length
        })
      }
    }
    book.forget(nowMs)
    expect(book.state("w", 700, nowMs)).toEqual({ value: 0, count: 0 })
  })

  it("recounts for a time before its last read, and for a new length", () => {
    const book = new WindowBook()
    for (const [seq, atMs] of [
      [1, 10],
      [2, 20],
      [3, 30]
    ] as const)
      book.reserve(seq, atMs, [{ meter: "m", window: "w", amount: 1 }])
    expect(book.state("w", 100, 200).value).toBe(0)
    expect(book.state("w", 100, 111).value).toBe(2)
    expect(book.state("w", 15, 30).value).toBe(2)
    expect(book.latestMs("w")).toBe(30)
    book.settle(3, "other", 9, true)
    book.settle(4, "m", 9, true)
    expect(book.state("w", 15, 31).value).toBe(2)
  })

  it("stays exact after its sum exceeded 2^53, for each length and for its past entries", () => {
    const book = new WindowBook()
    const most = Number.MAX_SAFE_INTEGER - 1
    expect(book.state("w", 1_000, 0)).toEqual({ value: 0, count: 0 })
    book.reserve(1, 0, [{ meter: "m", window: "w", amount: most }])
    book.state("w", 1_000, 0)
    for (const [seq, atMs, amount] of [
      [2, 1, most],
      [3, 2, 1]
    ] as const)
      book.reserve(seq, atMs, [{ meter: "m", window: "w", amount }])
    expect(book.state("w", 1_000, 2)).toEqual({ value: Number.MAX_SAFE_INTEGER, count: 3 })
    expect(book.state("w", 2_000, 2)).toEqual({ value: Number.MAX_SAFE_INTEGER, count: 3 })
    expect(book.state("w", 1_000, 1_001)).toEqual({ value: 1, count: 1 })
    book.settle(1, "m", 5, true)
    book.void(2)
    expect(book.state("w", 2_000, 1_001)).toEqual({ value: 6, count: 2 })
    expect(book.state("w", 3_000, 500)).toEqual({ value: 6, count: 2 })
  })

  it("settles the amounts of trial versions too, under the meter's own name", () => {
    const book = new WindowBook()
    book.reserve(1, 10, [
      { meter: "m", window: "live", amount: 5 },
      { meter: "shadow:m", window: "trial", amount: 5 }
    ])
    book.settle(1, "m", 2, true)
    expect([book.state("live", 100, 11).value, book.state("trial", 100, 11).value]).toEqual([2, 2])
  })
})
