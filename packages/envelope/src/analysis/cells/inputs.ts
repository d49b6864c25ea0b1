import type { Axis } from "../../language/compiled.ts"
import type { Scalar } from "../../language/envelope.ts"
import { leastPoint } from "../../language/boxes.ts"
import { isText, placeOfText } from "../../language/text-cells.ts"
import type { Cell } from "./cells.ts"
import type { CellGrid } from "./cell-grid.ts"
import type { Point } from "./verdict-at.ts"
import type { Path } from "./diagram.ts"

/** An input by the names of its axes: signals, derived signals, latches, `meter:<id>`. What is absent is left out. */
export type Inputs = Readonly<Record<string, Scalar>>

/** A point, or the axis that has no place for what was given. */
export type ReadPoint =
  | { readonly point: Point }
  | { readonly axis: string; readonly problem: "missing" | "out_of_domain" }

/** Finds the point of an input. Names that are no axis are ignored. */
export const pointOf = (axes: ReadonlyArray<Axis>, inputs: Inputs): ReadPoint => {
  const point: Array<number> = []
  for (const axis of axes) {
    const value = Object.hasOwn(inputs, axis.name) ? inputs[axis.name] : undefined
    if (value === undefined) {
      if (!axis.mayBeAbsent) return { axis: axis.name, problem: "missing" }
      point.push(leastPoint(axis))
      continue
    }
    const place = placeOf(axis, value)
    if (place === null) return { axis: axis.name, problem: "out_of_domain" }
    point.push(place)
  }
  return { point }
}

/** The point of a value on an axis, of a text that of its cell; null where the axis has none for it. */
export const placeOf = (axis: Axis, value: Scalar): number | null => {
  if (axis.kind === "bool") return typeof value === "boolean" ? Number(value) : null
  if (axis.kind === "enum") {
    const index = typeof value === "string" ? (axis.values ?? []).indexOf(value) : -1
    return index === -1 ? null : index
  }
  if (axis.text !== undefined) return isText(axis.text, value) ? placeOfText(axis.text, value) : null
  return typeof value === "number" && Number.isSafeInteger(value) && axis.min <= value && value <= axis.max
    ? value
    : null
}

/** The input at a point, as it would be sent. */
export const inputsOf = (axes: ReadonlyArray<Axis>, point: Point): Inputs =>
  Object.fromEntries(
    axes.flatMap((axis, index) => {
      const value = point[index]!
      if (value < axis.min) return []
      return [[axis.name, axis.kind === "int" ? value : axis.kind === "bool" ? value === 1 : axis.values![value]!]]
    })
  )

/**
 * A point on a path through the cells, with values that people like to read: present, and round where there is room.
 */
export const exampleOn = (grid: CellGrid, path: Path): Point => {
  const point: Array<number> = grid.axes.map(() => 0)
  for (const { axis, cells, index } of grid.levels) {
    const cell = path[index]
    point[index] = cell === undefined ? readableOn(axis, axis.min, axis.max) : representative(axis, cells[cell]!)
  }
  return point
}

const representative = (axis: Axis, cell: Cell): number => {
  const run = cell.runs.find(({ from }) => from >= axis.min) ?? cell.runs[0]!
  return readableOn(axis, run.from, run.to)
}

const spansMs = [86_400_000, 3_600_000, 60_000, 1_000]

/** Times, by the end of their name, are whole days, hours, minutes or seconds where the stretch has any. */
const readableOn = ({ name }: Axis, from: number, to: number): number => {
  const span =
    name.endsWith("_ms") && to > 0 ? spansMs.find((ms) => Math.ceil(Math.max(from, 1) / ms) * ms <= to) : undefined
  return span === undefined ? readable(from, to) : Math.ceil(Math.max(from, 1) / span) * span
}

/**
 * A value from a stretch: its least where it is short, else the least with few digits, and not below 100 where it
 * reaches that far.
 */
const readable = (from: number, to: number): number => {
  if (to - from < 10) return from
  if (to <= 0) return 0 - readable(-to, -from)
  const floor = Math.max(from, Math.min(100, 10 ** Math.floor(Math.log10(to))))
  for (let unit = 10 ** Math.floor(Math.log10(floor)); unit > 1; unit /= 10) {
    const round = Math.ceil(floor / unit) * unit
    if (round <= to) return round
  }
  return floor
}
