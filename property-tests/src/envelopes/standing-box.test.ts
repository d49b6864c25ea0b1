/** The proof that a box of inputs is no wider than a review, against every point of the domain. */
import fc from "fast-check"
import { assert, it } from "vitest"
import { type Admitted, proveBox } from "../../../packages/envelope/src/analysis/standing-box.ts"
import type { Axis, Compiled } from "../../../packages/envelope/src/language/compiled.ts"
import {
  bruteInputs,
  brutePoint,
  type BrutePoint,
  bruteVerdict,
  everyPoint,
  gravity,
  ruleHolds
} from "./analysis-brute.ts"
import { anEnvelope } from "./analysis-envelopes.ts"
import { runs } from "../runs.ts"

const valueOn = (axis: Axis, point: number): string | number | boolean =>
  axis.kind === "int" ? point : axis.kind === "bool" ? point === 1 : axis.values![point]!

/** Numbers choose a pin for some axes. */
const choices = fc.array(fc.record({ how: fc.nat(5), a: fc.nat(50), b: fc.nat(50) }), { minLength: 6, maxLength: 6 })

const pinsOf = (
  { axes }: Compiled,
  chosen: ReadonlyArray<{ readonly how: number; readonly a: number; readonly b: number }>
): Record<string, Admitted> =>
  Object.fromEntries(
    axes.flatMap((axis, index): ReadonlyArray<readonly [string, Admitted]> => {
      const { a, b, how } = chosen[index % chosen.length]!
      const at = (n: number) => axis.min + (n % (axis.max - axis.min + 1))
      if (how === 0) return [[axis.name, { eq: valueOn(axis, at(a)) }]]
      if (how === 1) return [[axis.name, { one_of: [valueOn(axis, at(a)), valueOn(axis, at(b))] }]]
      return how === 2 && axis.kind === "int" ? [[axis.name, { at_most: at(a) }]] : []
    })
  )

const liesIn = ({ axes }: Compiled, pins: Record<string, Admitted>, point: BrutePoint): boolean =>
  axes.every((axis, index) => {
    const pin = pins[axis.name]
    if (pin === undefined) return true
    if (point[index]! < axis.min) return false
    const value = valueOn(axis, point[index]!)
    return "eq" in pin ? value === pin.eq : "one_of" in pin ? pin.one_of.includes(value) : Number(value) <= pin.at_most
  })

/** More rules than elsewhere ask for a review. */
const reviewing = anEnvelope.map((compiled) => ({
  ...compiled,
  rules: compiled.rules.map((rule) =>
    rule.outcome === "halt" ? { ...rule, outcome: "require_review" as const } : rule
  )
}))

/** Lists what requires a review at a point: places of rules, and -1 - layer for a silent one. */
const askers = (compiled: Compiled, point: BrutePoint): ReadonlyArray<number> => [
  ...compiled.rules.flatMap(({ outcome }, rule) =>
    outcome === "require_review" && ruleHolds(compiled, rule, point) ? [rule] : []
  ),
  ...compiled.otherwise.flatMap((outcome, layer) =>
    outcome === "require_review" &&
    !compiled.rules.some((rule, place) => rule.layer === layer && ruleHolds(compiled, place, point))
      ? [-1 - layer]
      : []
  )
]

it("finds an input that other rules send to review if one exists, and otherwise proves the box", () => {
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(reviewing, choices, fc.nat(100_000), (compiled, chosen, which) => {
      const pins = pinsOf(compiled, chosen)
      const inside = everyPoint(compiled.axes).filter((point) => liesIn(compiled, pins, point))
      const open = inside.filter((point) => gravity(bruteVerdict(compiled, point).outcome) < gravity("deny"))
      const reviewed = open.filter((point) => askers(compiled, point).length > 0)
      const asking =
        reviewed.length === 0 || which % 3 === 0 ? [] : askers(compiled, reviewed[which % reviewed.length]!)
      const others = open.filter((point) => askers(compiled, point).some((one) => !asking.includes(one)))
      const proof = proveBox(compiled, pins, asking)
      kinds.set(proof.kind, (kinds.get(proof.kind) ?? 0) + 1)
      assert.equal(proof.kind, others.length === 0 ? "proved" : "wider")
      if (proof.kind !== "wider") return
      const found = brutePoint(compiled.axes, proof.example)!
      const rule = compiled.rules.findIndex(({ id }) => id === proof.rule)
      assert.isTrue(liesIn(compiled, pins, found))
      assert.isBelow(gravity(bruteVerdict(compiled, found).outcome), gravity("deny"))
      if (proof.rule !== "@default") assert.include(askers(compiled, found), rule)
      assert.isTrue(askers(compiled, found).some((one) => !asking.includes(one)))
      assert.deepEqual(bruteInputs(compiled.axes, found), proof.example)
    }),
    { numRuns: runs(200, 2_000), seed: 22 }
  )
  assert.isAbove(kinds.get("proved") ?? 0, 20)
  assert.isAbove(kinds.get("wider") ?? 0, 20)
})

it("names the axis that lacks a pinned value", () => {
  const [compiled] = fc.sample(anEnvelope, { numRuns: 1, seed: 3 }) as [Compiled]
  const axis = compiled.axes[0]!
  assert.deepEqual(proveBox(compiled, { [axis.name]: { one_of: ["nothing of it"] } }, []), {
    kind: "misfit",
    axis: axis.name
  })
})
