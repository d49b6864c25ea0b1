import { assert, describe, it } from "vitest"
import { type Axis, type Box, type Compiled, outcomes } from "../language/compiled.ts"
import { MAX_AXES } from "../language/limits.ts"
import { outcomeOf, runTable, tableOf } from "./table.ts"

/** A cheap source of numbers that is the same everywhere. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const axisOf = (i: number): Axis => ({
  name: `a${i}`,
  kind: i % 3 === 0 ? "enum" : "int",
  origin: "caller",
  min: 0,
  max: i % 3 === 0 ? 39 : 9,
  values: i % 3 === 0 ? Array.from({ length: 40 }, (_, v) => `v${v}`) : null,
  mayBeAbsent: i % 2 === 0
})

/** Boxes that a point near zero lies in for long, so that failures fall on every axis. */
const boxOf = (axes: ReadonlyArray<Axis>, below: (most: number) => number): Box =>
  axes.flatMap((axis, i): Box => {
    if (below(4) > 0) return []
    if (axis.kind === "int")
      return [{ axis: i, kind: "interval", from: below(3) === 0 ? 1 : axis.min, to: 2 + below(7) }]
    return [{ axis: i, kind: "set", bits: Uint32Array.of(~(1 << below(12)), 0b101011) }]
  })

const admits = (axes: ReadonlyArray<Axis>, box: Box, point: Float64Array, before: number): boolean =>
  box.every((range) => {
    if (range.axis >= before) return true
    const at = point[range.axis]!
    const bit = at - (axes[range.axis]!.mayBeAbsent ? -1 : 0)
    return range.kind === "interval"
      ? at >= range.from && at <= range.to
      : Math.floor(range.bits[Math.floor(bit / 32)]! / 2 ** (bit % 32)) % 2 === 1
  })

describe("the table", () => {
  for (const [axisCount, ruleCount, most] of [
    [0, 6, 1],
    [3, 20, 1],
    [4, 300, 1],
    [12, 40, 1],
    [30, 70, 1],
    [12, 40, 4],
    [MAX_AXES, 90, 3],
    [5, 0, 1]
  ] as const) {
    it(`says of ${ruleCount} rules of up to ${most} boxes on ${axisCount} axes what their boxes say`, () => {
      const below = numbersFrom(axisCount * 1_000 + most)
      const axes = Array.from({ length: axisCount }, (_, i) => axisOf(i))
      const rules = Array.from({ length: ruleCount }, (_, i) => ({
        id: `r${i}`,
        layer: i % 3,
        outcome: outcomes[below(5)]!,
        boxes: Array.from({ length: most === 1 ? 1 : below(most + 1) }, () => boxOf(axes, below))
      }))
      const compiled: Compiled = { axes, rules, otherwise: [null, "deny", "require_review"] }
      const table = tableOf(compiled)
      const failures = new Set<number>()
      for (let round = 0; round < 400; round++) {
        const point = Float64Array.from(axes, (axis) =>
          below(8) === 0 ? below(axis.max) : axis.mayBeAbsent ? below(3) - 1 : below(2)
        )
        const failedOn = table.blank.slice()
        const outcome = outcomeOf(table, runTable(table, point, failedOn))
        const expected = rules.map(({ boxes }) => {
          if (boxes.length === 0) return -2
          const farthest = Math.max(
            ...boxes
              .map((box) => axes.findIndex((_, i) => !admits(axes, box, point, i + 1)))
              .map((axis) => (axis < 0 ? axisCount : axis))
          )
          return farthest === axisCount ? -1 : farthest
        })
        assert.deepEqual(failedOn, expected)
        for (const failed of failedOn) failures.add(failed)
        const severities = [
          ...rules.flatMap((rule, i) => (expected[i] === -1 ? [outcomes.indexOf(rule.outcome)] : [])),
          ...[1, 2].flatMap((layer) =>
            rules.some((rule, i) => rule.layer === layer && expected[i] === -1) ? [] : [layer === 1 ? 3 : 2]
          )
        ]
        assert.equal(outcomes.indexOf(outcome), Math.max(...severities))
      }
      if (ruleCount > 0) assert.isTrue(failures.has(-1) || axisCount === MAX_AXES)
      if (axisCount === MAX_AXES) assert.isAbove(Math.max(...failures), 16)
    })
  }
})
