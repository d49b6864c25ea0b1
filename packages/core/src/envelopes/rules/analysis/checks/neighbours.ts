import type { Box } from "../../compiled.ts"
import { bitsOf } from "../bits.ts"
import type { Inspection } from "../inspection.ts"
import { type Model, variantOf } from "../model.ts"
import { severityOf } from "../ranking.ts"
import { type Point, verdictAt } from "../verdict-at.ts"

/** The one value between two neighbours, or the one they share. */
interface Border {
  readonly kind: "gap" | "shared"
  readonly rules: readonly [number, number]
  readonly axis: number
  readonly value: number
  /** Where both rules would hold but for this axis, at this one value. */
  readonly place: Box
}

/** Borders that are looked at: each is laid out beside all rules, and n rules on each side of one value make n times n. */
const MAX_BORDERS = 1_000

/**
 * W204: two rules whose intervals on one integer leave out a single value between them, or share a single one; usually `lt` was meant to be `lte`.
 *
 * A gap counts where the value comes out as neither of the two rules says. A shared value counts where the outcomes differ and neither interval is a single point.
 */
export const checkNeighbours = (inspection: Inspection): void => {
  const { find, idOf, model, open, say } = inspection
  const all = bordersOf(inspection)
  const borders = all.slice(0, MAX_BORDERS)
  if (all.length > MAX_BORDERS) {
    const rules = [...new Set(all.slice(MAX_BORDERS).flatMap(({ rules }) => rules))].map(idOf)
    open.push({ code: "W204", rules, reason: `${all.length} pairs of rules meet at a single value; the first ${MAX_BORDERS} were looked at.` })
  }
  if (borders.length === 0) return
  const first = model.boxes.length
  const placed = variantOf(model, (box) => box, borders.map(({ place }) => place))
  const told = new Set<string>()
  borders.forEach(({ axis, kind, rules: [one, other], value }, index) => {
    const key = `${kind} ${one} ${other} ${axis} ${value}`
    if (told.has(key)) return
    const within = bitsOf(placed.grid.words, [first + index])
    const example = kind === "shared" ? find("W204", [one, other], { within }, placed) : findGap(inspection, placed, within, [one, other])
    if (example === null) return
    told.add(key)
    const name = model.compiled.axes[axis]!.name
    say("W204", [one, other], kind === "gap"
      ? `${idOf(one)} and ${idOf(other)} leave out exactly ${name} = ${value} between them. If one of them should hold there, use lte or gte.`
      : `${idOf(one)} and ${idOf(other)} both hold at exactly ${name} = ${value}, and the more restrictive decides. If only one should, use lt or gt.`, { example })
  })
}

/** An input in the gap whose outcome is neither rule's. */
const findGap = ({ find, model }: Inspection, placed: Model, within: Uint32Array, rules: readonly [number, number]): Point | null => {
  const { compiled } = model
  const said = rules.map((rule) => compiled.rules[rule]!.outcome)
  const floor = Math.min(...said.map(severityOf))
  const avoid = bitsOf(placed.grid.words, model.numbers.flatMap((numbers, rule) => (severityOf(compiled.rules[rule]!.outcome) >= floor ? numbers : [])))
  const layers = compiled.otherwise.flatMap((outcome, layer) => (outcome !== null && said.includes(outcome) ? [placed.ofLayer[layer]!] : []))
  const found = find("W204", rules, { within, avoid, need: layers }, placed)
  return found !== null && !said.includes(verdictAt(compiled, found).outcome) ? found : null
}

const bordersOf = ({ model, ownRules }: Inspection): ReadonlyArray<Border> => {
  const { boxes, compiled, numbers } = model
  const borders: Array<Border> = []
  for (const one of ownRules) {
    for (const other of ownRules) {
      if (one === other) continue
      for (const low of numbers[one]!) for (const high of numbers[other]!) borders.push(...bordersBetween(compiled.axes, boxes[low]!, boxes[high]!, compiled.rules[one]!.outcome !== compiled.rules[other]!.outcome, [one, other]))
    }
  }
  return borders
}

/** `low` ends where `high` begins, on one axis; on the others one of them lies in the other: they are about the same cases. */
const bordersBetween = (axes: Model["compiled"]["axes"], low: Box, high: Box, differ: boolean, rules: readonly [number, number]): ReadonlyArray<Border> =>
  low.flatMap((below): ReadonlyArray<Border> => {
    const above = high.find(({ axis }) => axis === below.axis)
    if (below.kind !== "interval" || above?.kind !== "interval" || axes[below.axis]!.kind !== "int") return []
    const isGap = below.to + 2 === above.from
    const isShared = differ && below.to === above.from && below.from < below.to && above.from < above.to
    if (!isGap && !isShared) return []
    const rest = (box: Box): Box => box.filter(({ axis }) => axis !== below.axis)
    if (!liesIn(rest(low), rest(high)) && !liesIn(rest(high), rest(low))) return []
    const value = isGap ? below.to + 1 : below.to
    return [{ kind: isGap ? "gap" : "shared", rules, axis: below.axis, value, place: common(rest(low), rest(high), { axis: below.axis, kind: "interval", from: value, to: value }) }]
  })

/** Whether every point of a box is one of the other. */
const liesIn = (box: Box, other: Box): boolean => other.every((wide) => {
  const narrow = box.find(({ axis }) => axis === wide.axis)
  if (narrow?.kind === "interval" && wide.kind === "interval") return wide.from <= narrow.from && narrow.to <= wide.to
  return narrow?.kind === "set" && wide.kind === "set" && narrow.bits.every((word, at) => (word & ~wide.bits[at]!) === 0)
})

/** What two boxes that meet have in common, with one more range. */
const common = (one: Box, other: Box, more: Box[number]): Box => {
  const ranges = new Map<number, Box[number]>([[more.axis, more]])
  for (const range of [...one, ...other]) {
    const before = ranges.get(range.axis)
    if (before === undefined) ranges.set(range.axis, range)
    else if (before.kind === "interval" && range.kind === "interval") ranges.set(range.axis, { ...range, from: Math.max(before.from, range.from), to: Math.min(before.to, range.to) })
    else if (before.kind === "set" && range.kind === "set") ranges.set(range.axis, { ...range, bits: before.bits.map((word, at) => word & range.bits[at]!) })
  }
  return [...ranges.values()].sort((left, right) => left.axis - right.axis)
}
