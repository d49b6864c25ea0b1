/**
 * The elementary cells of an axis: between two neighbouring bounds of any rule no verdict changes. Spec: `SPEC.md`
 * section 13.
 */
import { hasBit } from "../language/boxes.ts"
import type { Axis, Range } from "../language/compiled.ts"
import type { Combination } from "../compile/compile.ts"

/** A stretch of an axis. */
export interface Cell {
  readonly from: number
  readonly to: number
  /** The point of the cell nearest to where the axis is now. */
  readonly near: number
}

/** The cells of an axis that some rule tells from `at`, nearest first. */
export const cellsOf = ({ compiled: { axes, rules } }: Combination, index: number, at: number): ReadonlyArray<Cell> => {
  const axis = axes[index]!
  const least = axis.mayBeAbsent ? axis.min - 1 : axis.min
  const ranges = rules.flatMap((rule) => rule.boxes.flatMap((box) => box.filter((range) => range.axis === index)))
  if (ranges.length === 0) return []
  const starts =
    axis.kind === "int" ? boundsOf(ranges, axis) : Array.from({ length: axis.max - least + 1 }, (_, bit) => least + bit)
  const isAsNow = alikeIn(ranges, at, least)
  return starts
    .map((from, i) => {
      const to = (starts[i + 1] ?? axis.max + 1) - 1
      return { from, to, near: Math.min(Math.max(at, from), to) }
    })
    .filter((cell) => at < cell.from || at > cell.to)
    .filter((cell) => !isAsNow(cell.near))
    .sort((a, b) => Math.abs(a.near - at) - Math.abs(b.near - at))
}

const boundsOf = (ranges: ReadonlyArray<Range>, axis: Axis): ReadonlyArray<number> => {
  const starts = new Set([axis.min, ...(axis.mayBeAbsent ? [axis.min - 1] : [])])
  for (const range of ranges) {
    if (range.kind !== "interval") continue
    starts.add(range.from)
    if (range.to < axis.max) starts.add(range.to + 1)
  }
  return [...starts].sort((a, b) => a - b)
}

/**
 * Builds a test that is true for a value that all ranges admit as they admit `at`. Those that admit both have it in
 * common, so each cell costs one check for any number of ranges.
 */
const alikeIn = (ranges: ReadonlyArray<Range>, at: number, least: number): ((value: number) => boolean) => {
  let [from, to] = [-Infinity, Infinity]
  const others: Array<Interval> = []
  const differing: Array<Uint32Array> = []
  for (const range of ranges) {
    const isNow = range.kind === "interval" ? at >= range.from && at <= range.to : hasBit(range.bits, at - least)
    if (range.kind === "set") differing.push(isNow ? range.bits.map((word) => ~word) : range.bits)
    else if (!isNow) others.push(range)
    else [from, to] = [Math.max(from, range.from), Math.min(to, range.to)]
  }
  const elsewhere = joined(others)
  const isOther = differing.reduce(
    (all, bits) => all.map((word, i) => word | bits[i]!),
    new Uint32Array(differing[0]?.length ?? 0)
  )
  return (value) =>
    value >= from && value <= to && !isIn(elsewhere, value) && !(isOther.length > 0 && hasBit(isOther, value - least))
}

interface Interval {
  readonly from: number
  readonly to: number
}

/** The same points in intervals that do not meet, ascending. */
const joined = (intervals: ReadonlyArray<Interval>): ReadonlyArray<Interval> => {
  const apart: Array<{ from: number; to: number }> = []
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else apart.push({ from, to })
  }
  return apart
}

const isIn = (apart: ReadonlyArray<Interval>, value: number): boolean => {
  let [low, high] = [0, apart.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (apart[middle]!.to < value) low = middle + 1
    else high = middle
  }
  return low < apart.length && apart[low]!.from <= value
}
