/** Random envelopes in normal form, over domains of a few hundred to a few thousand points. */
import fc from "fast-check"
import type {
  Axis,
  Box,
  Compiled,
  CompiledRule,
  Outcome,
  Range
} from "../../../packages/envelope/src/language/compiled.ts"

const outcome = fc.constantFrom<Outcome>("allow", "allow", "allow_with_notice", "require_review", "deny", "halt")

/** Signals as in practice: a tool, a class of data, amounts, a tier, a flag, a meter. Some may be absent. */
const axes: fc.Arbitrary<ReadonlyArray<Axis>> = fc
  .record({
    tools: fc.integer({ min: 2, max: 4 }),
    amount: fc.integer({ min: 2, max: 9 }),
    low: fc.integer({ min: -2, max: 1 }),
    tier: fc.integer({ min: 1, max: 4 }),
    absent: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    some: fc.subarray([0, 1, 2, 3, 4], { minLength: 2 })
  })
  .map(({ absent, amount, low, some, tier, tools }) => {
    const all: ReadonlyArray<Axis> = [
      {
        name: "tool",
        kind: "enum",
        origin: "caller",
        min: 0,
        max: tools - 1,
        values: ["search", "refund", "pay", "close"].slice(0, tools),
        mayBeAbsent: absent[0]!
      },
      {
        name: "amount",
        kind: "int",
        origin: "caller",
        min: low,
        max: low + amount,
        values: null,
        mayBeAbsent: absent[1]!
      },
      { name: "tier", kind: "int", origin: "server", min: 0, max: tier, values: null, mayBeAbsent: false },
      { name: "known", kind: "bool", origin: "server", min: 0, max: 1, values: null, mayBeAbsent: absent[2]! },
      { name: "meter:sum", kind: "int", origin: "meter", min: 0, max: 4, values: null, mayBeAbsent: false }
    ]
    return some.map((index) => all[index]!)
  })

const pointsOf = ({ max, mayBeAbsent, min }: Axis): number => max - min + (mayBeAbsent ? 2 : 1)

const range = (axis: Axis, index: number): fc.Arbitrary<Range> => {
  const count = pointsOf(axis)
  const lowest = axis.max - count + 1
  if (axis.kind === "int") {
    return fc
      .tuple(fc.integer({ min: 0, max: count - 1 }), fc.integer({ min: 0, max: count - 1 }))
      .map(([one, other]) => ({
        axis: index,
        kind: "interval",
        from: lowest + Math.min(one, other),
        to: lowest + Math.max(one, other)
      }))
  }
  return fc
    .integer({ min: 1, max: 2 ** count - 1 })
    .map((bits) => ({ axis: index, kind: "set", bits: Uint32Array.of(bits) }))
}

const box = (all: ReadonlyArray<Axis>): fc.Arbitrary<Box> =>
  fc.subarray([...all.keys()]).chain((some) => fc.tuple(...some.map((index) => range(all[index]!, index))))

const rule = (all: ReadonlyArray<Axis>, layers: number): fc.Arbitrary<Omit<CompiledRule, "id">> =>
  fc.record({
    layer: fc.integer({ min: 0, max: layers - 1 }),
    outcome,
    boxes: fc.array(box(all), { minLength: 0, maxLength: 3 })
  })

/** Rules stand in the order of their layers. */
const compiled = (all: ReadonlyArray<Axis>): fc.Arbitrary<Compiled> =>
  fc.integer({ min: 1, max: 3 }).chain((layers) =>
    fc
      .record({
        rules: fc.array(rule(all, layers), { maxLength: 8 }),
        last: fc.constantFrom<Outcome>("deny", "deny", "require_review"),
        outer: fc.array(fc.constantFrom<Outcome | null>(null, null, "deny", "require_review"), {
          minLength: layers - 1,
          maxLength: layers - 1
        })
      })
      .map(({ last, outer, rules }) => ({
        axes: all,
        rules: [...rules]
          .sort((left, right) => left.layer - right.layer)
          .map((one, index) => ({ ...one, id: `r${index}` })),
        otherwise: [...outer, last]
      }))
  )

/** One envelope. */
export const anEnvelope: fc.Arbitrary<Compiled> = axes.chain(compiled)

/** Two envelopes whose signals differ in bounds, members and absence, and in which there are. */
export const twoEnvelopes: fc.Arbitrary<readonly [Compiled, Compiled]> = fc.oneof(
  axes.chain((all) => fc.tuple(compiled(all), compiled(all))),
  fc.tuple(anEnvelope, anEnvelope),
  // An edit: one rule of the first is gone, another is new.
  axes.chain((all) =>
    fc.tuple(compiled(all), compiled(all), fc.nat()).map(([one, other, at]) => {
      const place = one.rules.length === 0 ? 0 : at % one.rules.length
      const added = other.rules.slice(0, 1).map((rule) => ({ ...rule, id: "new", layer: one.otherwise.length - 1 }))
      return [one, { ...one, rules: [...one.rules.filter((_, index) => index !== place), ...added] }] as const
    })
  )
)
