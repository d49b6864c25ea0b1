import { costProblem, type LimitPolicy, type LimitRow } from "@flyball/core"
import { type RowState, takeLimits } from "@flyball/core/storage"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../runs.ts"
import { type Admission, overAdmission, partEight, type Pass, pass } from "./laws.ts"

const seed = 20_261_128
const start = Date.UTC(2026, 10, 28, 23, 50) + 123

const step = fc.record({
  pass,
  cost: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000 }) }
  ),
  /** Units that are taken ahead, and how many of them are given back later. */
  units: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) }),
  unused: fc.integer({ min: 0, max: 50 }),
  /** So often it is repeated at once. */
  times: fc.integer({ min: 1, max: 30 })
})
type Step = {
  readonly pass: Pass
  readonly cost: number
  readonly units: number
  readonly unused: number
  readonly times: number
}

/** Rows of a store, and a clock that steps. */
class World {
  readonly rows = new Map<string, RowState>()
  realMs = start
  nowMs = start
  readonly forward: Array<readonly [number, number]> = []

  pass({ passMs, stepMs }: Pass): void {
    this.realMs += passMs
    this.nowMs += passMs + stepMs
    if (stepMs > 0) this.forward.push([this.realMs, this.realMs])
  }

  take(request: Parameters<typeof takeLimits>[1][number], atMs = this.nowMs, isKept = true) {
    const { changed, taken } = takeLimits((subject) => this.rows.get(subject), [request], atMs)
    if (isKept) for (const [subject, state] of changed) this.rows.set(subject, state)
    return taken[0]!
  }
}

const windows = (rows: ReadonlyArray<LimitRow>) =>
  rows.flatMap(({ policies }) =>
    policies.filter((one): one is LimitPolicy & { window: number } => one.window !== "day")
  )

describe.each(
  partEight.map(
    (rows) =>
      [
        rows.flatMap(({ policies }) => policies.map(({ limit, window }) => `${limit} in ${window}`)).join(", "),
        rows
      ] as const
  )
)("the slots of %s", (_name, rows) => {
  const least = Math.min(...rows.flatMap(({ policies }) => policies.map(({ limit }) => limit)))

  it("admit no more in any window, refuse with a true wait, and change nothing then", () => {
    let refusals = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: "max" }), (history: ReadonlyArray<Step>) => {
        const world = new World()
        const admissions: Array<Admission> = []
        for (const { cost: wanted, pass: passed, times, units, unused } of history) {
          world.pass(passed)
          const cost = Math.min(wanted, least)
          let admitted = 0
          assert.isNull(costProblem(rows, cost))
          for (let time = 0; time < times; time++) {
            const before = new Map(world.rows)
            const taken = world.take({ rows, cost, units })
            for (const { limit, remaining, resetS } of taken.policies) {
              assert.isTrue(remaining >= 0 && remaining <= limit && Number.isInteger(resetS))
            }
            if (taken.admitted) {
              // What is not given back was used within its slot.
              const back = Math.min(unused, taken.ahead)
              admitted += cost + taken.ahead - back
              if (back > 0) world.take({ rows, cost: 0, units: 0, back: { units: back, marks: taken.marks } })
              continue
            }
            refusals++
            const refused = taken.policies.filter((state) => state.refused)
            const resetS = Math.max(...refused.map((state) => state.resetS))
            assert.isAbove(resetS * 1000, world.nowMs)
            const longestS = Math.max(
              ...rows.flatMap(({ policies }) =>
                policies.map(({ window }) => (window === "day" ? 2 * 86_400 : window + 2))
              )
            )
            const waitS = Math.max(1, Math.ceil(resetS - world.nowMs / 1000))
            assert.isAtMost(waitS, longestS)
            assert.isTrue(world.take({ rows, cost, units: 0 }, world.nowMs + waitS * 1000, false).admitted)
            for (const [subject, { lag: _, day: __, ...state }] of world.rows) {
              const { lag: _lag, day: _day, ...stood } = before.get(subject)!
              for (const [policy, slots] of Object.entries(state.slots))
                assert.includeMembers([...(stood.slots[policy] ?? [])], [...slots])
            }
            break
          }
          admissions.push({ fromMs: world.realMs, toMs: world.realMs, cost: admitted })
        }
        for (const policy of windows(rows)) assert.isNull(overAdmission(policy, admissions, world.forward))
        // After an idle window, all of the limit is admitted at once.
        const idleMs = Math.max(2 * 86_400_000, ...windows(rows).map(({ window }) => window * 1000 + 2_000))
        assert.isTrue(world.take({ rows, cost: least, units: 0 }, world.nowMs + idleMs, false).admitted)
      }),
      { numRuns: runs(30, 300), seed }
    )
    assert.isAbove(refusals, 10)
  })

  it("admit no more than the limit of a day in any UTC day of a clock that never steps", () => {
    const daily = rows.flatMap(({ policies }) => policies.filter(({ window }) => window === "day"))
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: "max" }), (history: ReadonlyArray<Step>) => {
        const world = new World()
        const used = new Map<number, number>()
        for (const { cost, pass: passed, times, units } of history) {
          world.pass({ passMs: passed.passMs, stepMs: 0 })
          for (let time = 0; time < times; time++) {
            const taken = world.take({ rows, cost: Math.min(cost, least), units })
            const day = Math.floor(world.nowMs / 86_400_000)
            if (taken.admitted) used.set(day, (used.get(day) ?? 0) + Math.min(cost, least) + taken.ahead)
          }
        }
        for (const { limit } of daily) for (const sum of used.values()) assert.isAtMost(sum, limit)
      }),
      { numRuns: runs(10, 60), seed }
    )
  })
})

describe("the slots where the clock steps back within a second", () => {
  it("keep every unit for its whole window", () => {
    const world = new World()
    const second = Math.ceil(start / 1000) * 1000
    const rows = [{ subject: "key", policies: [{ name: "minute", limit: 2, window: 60 }] }]
    const take = () => world.take({ rows, cost: 1, units: 0 }).admitted
    world.nowMs = second
    assert.isTrue(take())
    world.nowMs += 10_100
    assert.isTrue(take())
    // Behind the beginning of the slot, and in the second before it.
    world.nowMs -= 3_600_000 - 890
    assert.isFalse(take())
    world.nowMs += 60_000 - 10_100 - 1
    assert.isFalse(take())
  })
})
