/** Windows of meters against a fold that restarts at every question. */
import { MeterBook } from "../../../packages/envelope/src/meters/sliding-window.ts"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../runs.ts"

const SEED = 20_261_122
const WINDOW_MS = 10

/** Steps of 0, 1, W - 1, W and W + 1 put contributions on both sides of the window's edge. */
const step = fc.constantFrom(0, 0, 1, 2, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1)
const act = fc.record({
  stepMs: step,
  key: fc.constantFrom("a", "b"),
  what: fc.constantFrom("reserve", "reserve", "reserve", "settle", "void", "ask"),
  amount: fc.integer({ min: 0, max: 100 }),
  which: fc.nat()
})

describe("a meter", () => {
  it("sums the settled contributions in (t - W, t] without voided ones, at every record", () =>
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
        const book = new MeterBook()
        const meter = { id: "m", windowMs: WINDOW_MS }
        const reported: Array<{
          readonly id: string
          readonly key: string
          readonly atMs: number
          amount: number
          isVoid: boolean
        }> = []
        let atMs = 0
        acts.forEach(({ amount, key, stepMs, what, which }, seq) => {
          atMs += stepMs
          const inWindow = reported.filter(
            (one) => one.key === key && !one.isVoid && one.atMs > atMs - WINDOW_MS && one.atMs <= atMs
          )
          const state = book.window(meter, key).state(atMs)
          assert.deepEqual(state, { value: inWindow.reduce((sum, one) => sum + one.amount, 0), count: inWindow.length })
          if (what === "reserve") {
            book.window(meter, key).reserve({ evaluationId: `e${seq}`, atMs, amount })
            reported.push({ id: `e${seq}`, key, atMs, amount, isVoid: false })
          }
          const earlier = reported[which % Math.max(1, reported.length)]
          if (earlier === undefined) return
          if (what === "settle" && !earlier.isVoid) {
            book.window(meter, earlier.key).settle(earlier.id, amount)
            earlier.amount = amount
          }
          if (what === "void") {
            book.window(meter, earlier.key).void(earlier.id)
            earlier.isVoid = true
          }
        })
      }),
      { seed: SEED, numRuns: runs(400, 2_000) }
    ))
})
