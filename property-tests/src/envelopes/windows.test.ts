/** The windows that evaluations are made with, and made again with, against a fold that restarts at every question. */
import { WindowBook } from "../../../packages/envelope/src/meters/window-book.ts"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../runs.ts"

const SEED = 20_261_122
const WINDOW_MS = 10
const LONGER_MS = 25

/** Steps of 0, 1, W - 1, W and W + 1 put contributions on both sides of the window's edge. */
const step = fc.constantFrom(0, 0, 1, 2, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1, LONGER_MS - 1, LONGER_MS)
const act = fc.record({
  stepMs: step,
  /** One evaluation adds to one window or to both, at one time. */
  windows: fc.constantFrom(["a"], ["b"], ["a", "b"]),
  what: fc.constantFrom("reserve", "reserve", "reserve", "settle", "void", "forget", "ask", "ask before"),
  amount: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 100 }) },
    { weight: 1, arbitrary: fc.constantFrom(2 ** 52, 2 ** 53 - 3, 2 ** 53 - 1) }
  ),
  mayLower: fc.boolean(),
  which: fc.nat()
})

interface Reported {
  readonly seq: number
  readonly window: string
  readonly atMs: number
  amount: number
  isVoid: boolean
}

/** Exact, and reported as 2^53 - 1 where it is above that. */
const sumOf = (reported: ReadonlyArray<Reported>): number => {
  const sum = reported.reduce((all, { amount }) => all + BigInt(amount), 0n)
  return sum > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(sum)
}

describe("the window book", () => {
  it("sums the settled contributions in (t - W, t] for each length, without voided or past ones", () =>
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
        const book = new WindowBook()
        let reported: Array<Reported> = []
        let atMs = 1_000
        const check = (timeMs: number): void => {
          for (const window of ["a", "b"])
            for (const windowMs of [WINDOW_MS, LONGER_MS]) {
              const inside = reported.filter(
                (one) => one.window === window && !one.isVoid && one.atMs > timeMs - windowMs && one.atMs <= timeMs
              )
              assert.deepEqual(
                book.state(window, windowMs, timeMs),
                { value: sumOf(inside), count: inside.length },
                `${window} ${windowMs} at ${timeMs}`
              )
            }
        }
        acts.forEach(({ amount, mayLower, stepMs, what, which, windows }, seq) => {
          atMs += stepMs
          if (what === "reserve") {
            book.reserve(
              seq,
              atMs,
              windows.map((window) => ({ meter: window, window, amount }))
            )
            reported.push(...windows.map((window) => ({ seq, window, atMs, amount, isVoid: false })))
          }
          const about = reported[which % Math.max(1, reported.length)]
          if (what === "settle" && about !== undefined) {
            const isLess = amount < about.amount && !about.isVoid
            assert.equal(book.settle(about.seq, about.window, amount, mayLower), mayLower || !isLess)
            if (mayLower || !isLess) about.amount = amount
          }
          if (what === "void" && about !== undefined) {
            book.void(about.seq)
            for (const one of reported) if (one.seq === about.seq) one.isVoid = true
          }
          if (what === "forget") {
            book.forget(atMs - LONGER_MS)
            reported = reported.filter((one) => one.atMs > atMs - LONGER_MS)
          }
          check(atMs)
          // A time before the last read: it reaches back no farther than what was dropped.
          if (what === "ask before") check(Math.max(atMs - 3, 1_000))
        })
      }),
      { seed: SEED, numRuns: runs(300, 1_500) }
    ))

  it("moves an earlier time up to the latest time of its windows, in all of them", () => {
    const book = new WindowBook()
    book.reserve(1, 100, [{ meter: "a", window: "a", amount: 1 }])
    book.reserve(2, 95, [
      { meter: "a", window: "a", amount: 2 },
      { meter: "b", window: "b", amount: 2 }
    ])
    assert.deepEqual([book.state("a", 10, 109).value, book.state("b", 10, 109).value], [3, 2])
    assert.deepEqual([book.state("a", 10, 110).value, book.state("b", 10, 110).value], [0, 0])
  })
})
