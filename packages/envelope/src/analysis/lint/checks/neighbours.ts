import type { Box } from "../../../language/compiled.ts"
import { bitsOf } from "../../cells/bits.ts"
import type { Inspection } from "../inspection.ts"
import { type Model, variantOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"
import { type Point, verdictAt } from "../../cells/verdict-at.ts"

/** The one value between two neighbours, or the one they share. */
interface Border {
  readonly kind: "gap" | "shared"
  readonly rules: readonly [number, number]
  readonly axis: number
  readonly value: number
  /** Where both rules would hold but for this axis, at this one value. */
  readonly place: Box
}

/**
 * Borders that are checked, and kept. Each is laid out beside all rules, and n boxes on each side of one value make n
 * times n, a million of 2,000.
 */
const MAX_BORDERS = 1_000

/**
 * W204: two rules whose intervals on one integer leave out a single value between them, or share a single one; usually
 * `lt` was meant to be `lte`.
 *
 * A gap counts where the value comes out as neither of the two rules says. A shared value counts where the outcomes
 * differ and neither interval is a single point.
 */
export const checkNeighbours = (inspection: Inspection): void => {
  const { find, idOf, model, open, say } = inspection
  const { borders, count, unseen } = bordersOf(inspection)
  if (count > MAX_BORDERS)
    open.push({
      code: "W204",
      rules: [...unseen].map(idOf),
      reason: `${count} pairs of rules meet at a single value; the first ${MAX_BORDERS} were checked.`
    })
  if (borders.length === 0) return
  const first = model.boxes.length
  const placed = variantOf(
    model,
    (box) => box,
    borders.map(({ place }) => place)
  )
  const reported = new Set<string>()
  borders.forEach(({ axis, kind, rules: [one, other], value }, index) => {
    const key = `${kind} ${one} ${other} ${axis} ${value}`
    if (reported.has(key)) return
    const within = bitsOf(placed.grid.words, [first + index])
    const example =
      kind === "shared"
        ? find("W204", [one, other], { within }, placed)
        : findGap(inspection, placed, within, [one, other])
    if (example === null) return
    reported.add(key)
    const name = model.compiled.axes[axis]!.name
    say(
      "W204",
      [one, other],
      kind === "gap"
        ? `${idOf(one)} and ${idOf(other)} leave out exactly ${name} = ${value} between them. If one of them ` +
            "should hold there, use lte or gte."
        : `${idOf(one)} and ${idOf(other)} both hold at exactly ${name} = ${value}, and the more restrictive ` +
            "decides. If only one should, use lt or gt.",
      { example }
    )
  })
}

/** An input in the gap whose outcome is neither rule's. */
const findGap = (
  { find, model }: Inspection,
  placed: Model,
  within: Uint32Array,
  rules: readonly [number, number]
): Point | null => {
  const { compiled } = model
  const said = rules.map((rule) => compiled.rules[rule]!.outcome)
  const floor = Math.min(...said.map(severityOf))
  const avoid = bitsOf(
    placed.grid.words,
    model.numbers.flatMap((numbers, rule) => (severityOf(compiled.rules[rule]!.outcome) >= floor ? numbers : []))
  )
  const layers = compiled.otherwise.flatMap((outcome, layer) =>
    outcome !== null && said.includes(outcome) ? [placed.ofLayer[layer]!] : []
  )
  const found = find("W204", rules, { within, avoid, need: layers }, placed)
  return found !== null && !said.includes(verdictAt(compiled, found).outcome) ? found : null
}

interface Borders {
  readonly borders: ReadonlyArray<Border>
  readonly count: number
  /** The rules of those that are only counted. */
  readonly unseen: ReadonlySet<number>
}

const bordersOf = ({ model, ownRules }: Inspection): Borders => {
  const {
    boxes,
    compiled: { axes, rules },
    numbers
  } = model
  const borders: Array<Border> = []
  const unseen = new Set<number>()
  let count = 0
  for (const one of ownRules) {
    for (const other of ownRules) {
      if (one === other) continue
      const differ = rules[one]!.outcome !== rules[other]!.outcome
      for (const low of numbers[one]!)
        for (const high of numbers[other]!)
          eachBorder(axes, boxes[low]!, boxes[high]!, differ, (kind, axis, value) => {
            if (++count > MAX_BORDERS) unseen.add(one).add(other)
            else
              borders.push({
                kind,
                rules: [one, other],
                axis,
                value,
                place: common(besides(boxes[low]!, axis), besides(boxes[high]!, axis), {
                  axis,
                  kind: "interval",
                  from: value,
                  to: value
                })
              })
          })
    }
  }
  return { borders, count, unseen }
}

const besides = (box: Box, index: number): Box => box.filter(({ axis }) => axis !== index)

/**
 * `low` ends where `high` begins, on one axis; on the others one of them lies in the other: they are about the same
 * cases.
 */
const eachBorder = (
  axes: Model["compiled"]["axes"],
  low: Box,
  high: Box,
  differ: boolean,
  found: (kind: Border["kind"], axis: number, value: number) => void
): void => {
  for (const below of low) {
    const above = high.find(({ axis }) => axis === below.axis)
    if (below.kind !== "interval" || above?.kind !== "interval" || axes[below.axis]!.kind !== "int") continue
    const isGap = below.to + 2 === above.from
    const isShared = differ && below.to === above.from && below.from < below.to && above.from < above.to
    if (!isGap && !isShared) continue
    const [lowRest, highRest] = [besides(low, below.axis), besides(high, below.axis)]
    if (liesIn(lowRest, highRest) || liesIn(highRest, lowRest))
      found(isGap ? "gap" : "shared", below.axis, isGap ? below.to + 1 : below.to)
  }
}

/** True when every point of a box is one of the other. */
const liesIn = (box: Box, other: Box): boolean =>
  other.every((wide) => {
    const narrow = box.find(({ axis }) => axis === wide.axis)
    if (narrow?.kind === "interval" && wide.kind === "interval") return wide.from <= narrow.from && narrow.to <= wide.to
    return (
      narrow?.kind === "set" && wide.kind === "set" && narrow.bits.every((word, at) => (word & ~wide.bits[at]!) === 0)
    )
  })

/** The intersection of two boxes that overlap, with one more range. */
const common = (one: Box, other: Box, more: Box[number]): Box => {
  const ranges = new Map<number, Box[number]>([[more.axis, more]])
  for (const range of [...one, ...other]) {
    const before = ranges.get(range.axis)
    if (before === undefined) ranges.set(range.axis, range)
    else if (before.kind === "interval" && range.kind === "interval")
      ranges.set(range.axis, { ...range, from: Math.max(before.from, range.from), to: Math.min(before.to, range.to) })
    else if (before.kind === "set" && range.kind === "set")
      ranges.set(range.axis, { ...range, bits: before.bits.map((word, at) => word & range.bits[at]!) })
  }
  return [...ranges.values()].sort((left, right) => left.axis - right.axis)
}
