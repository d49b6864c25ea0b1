/**
 * The nearest cell with a less restrictive verdict: what would have to be otherwise. Computed from the boxes, exact.
 *
 * Spec: `SPEC.md` section 13.
 */
import type { Axis, Outcome } from "../language/compiled.ts"
import type { Combination } from "../compile/compile.ts"
import { type Cell, cellsOf } from "./explain-cells.ts"
import { cellWords } from "../language/text-cells.ts"
import { outcomeOf, runTable, severityOf, type Table } from "../compile/table.ts"

/**
 * One axis whose value would have to change: a stretch of an int axis, or a value of another (null: absent). A text
 * stands for all of its cell.
 */
export interface Change {
  readonly axis: string
  readonly origin: Axis["origin"]
  readonly from: number | string | boolean | null
  readonly to: number | string | boolean | null
}

/** A less restrictive cell, everything else as it is. */
export interface Nearest {
  readonly outcome: Outcome
  readonly changes: ReadonlyArray<Change>
  /** Axes that are computed from changed signals and were held as they are: derived signals and meters. */
  readonly held: ReadonlyArray<string>
  readonly sentence: string
}

/** `none`: no change of up to `within` axes helps. `partial`: the budget of tried cells was spent first. */
export type Explanation =
  | { readonly found: Nearest }
  | { readonly found: null; readonly reason: "none" | "partial"; readonly within: number }

/** Most axes that change together. */
const MAX_CHANGES = 3
/**
 * Most cells that are tried, and most boxes that are checked for them: some twenty milliseconds. As many again where
 * the result is widened.
 */
const MAX_TRIED = 50_000
const MAX_CHECKED = 1_000_000

/**
 * Searches for the cell with the fewest axes changed; of these the least restrictive, then the first in the order of
 * axes and the nearest on them.
 *
 * `point` is where the evaluation took place: `ready.point` right after `decide`. `fixed` names axes that shall stay.
 * An evaluation that ended early, or that `@budget` decided, has no cell: ask for none. Spec: `envelope/1` section 13.
 */
export const explain = (
  combination: Combination,
  table: Table,
  point: Float64Array,
  fixed: ReadonlySet<string> = notTheAgents(combination)
): Explanation => {
  const { axes } = combination.compiled
  const failedOn: Array<number> = []
  const now = severityOf(table, runTable(table, point, failedOn))
  const cells = axes.map((axis, i) => (fixed.has(axis.name) ? [] : cellsOf(combination, i, point[i]!)))
  const trial = Float64Array.from(point)
  const boxes = combination.compiled.rules.reduce((sum, rule) => sum + rule.boxes.length, 0)
  const budget = Math.min(MAX_TRIED, Math.floor(MAX_CHECKED / Math.max(1, boxes)))
  let left = budget
  let best: {
    readonly severity: number
    readonly outcome: Outcome
    readonly chosen: ReadonlyArray<readonly [number, Cell]>
  } | null = null
  const search = (first: number, more: number, chosen: ReadonlyArray<readonly [number, Cell]>): boolean => {
    for (let i = first; i < axes.length; i++) {
      for (const cell of cells[i]!) {
        trial[i] = cell.near
        const next = [...chosen, [i, cell] as const]
        if (more > 1) {
          if (!search(i + 1, more - 1, next)) return false
        } else {
          if (left-- === 0) return false
          const verdict = runTable(table, trial, failedOn)
          const severity = severityOf(table, verdict)
          if (severity < (best?.severity ?? now)) best = { severity, outcome: outcomeOf(table, verdict), chosen: next }
        }
      }
      trial[i] = point[i]!
    }
    return true
  }
  for (let changes = 1; changes <= MAX_CHANGES; changes++) {
    const isDone = search(0, changes, [])
    // Where the budget ended the search, an axis stands where it was tried last.
    trial.set(point)
    const found = best as { readonly outcome: Outcome; readonly chosen: ReadonlyArray<readonly [number, Cell]> } | null
    if (found !== null)
      return {
        found: nearestOf(
          combination,
          found.outcome,
          found.chosen.length > 1
            ? found.chosen
            : [widened(combination, table, found.outcome, found.chosen[0]!, cells, trial, budget)]
        )
      }
    if (!isDone) return { found: null, reason: "partial", within: changes }
  }
  return { found: null, reason: "none", within: MAX_CHANGES }
}

/**
 * The axes that an agent cannot change: what the service and earlier evaluations say, and the tool, which is the
 * question itself.
 */
const notTheAgents = ({ compiled: { axes } }: Combination): ReadonlySet<string> =>
  new Set(
    axes
      .filter((axis) => axis.origin === "server" || axis.origin === "latch" || axis.name === "tool")
      .map((axis) => axis.name)
  )

/**
 * A cell with its neighbours that have the same verdict. Cells that no rule tells from the present one are no
 * candidates, and end the range; so does the budget.
 */
const widened = (
  { compiled: { axes } }: Combination,
  table: Table,
  outcome: Outcome,
  [axis, cell]: readonly [number, Cell],
  cells: ReadonlyArray<ReadonlyArray<Cell>>,
  trial: Float64Array,
  budget: number
): readonly [number, Cell] => {
  const now = trial[axis]!
  const { kind, min } = axes[axis]!
  if (kind !== "int" || cell.from < min) return [axis, cell]
  let { from, to } = cell
  const failedOn: Array<number> = []
  const place = new Map(cells[axis]!.map((one, i) => [one, i]))
  const beginning = new Map(cells[axis]!.filter((one) => one.from >= min).map((one) => [one.from, one]))
  const ending = new Map(cells[axis]!.filter((one) => one.from >= min).map((one) => [one.to, one]))
  for (let left = budget; left > 0; left--) {
    const [below, above] = [ending.get(from - 1), beginning.get(to + 1)]
    const next = below === undefined || (above !== undefined && place.get(above)! < place.get(below)!) ? above : below
    if (next === undefined) break
    trial[axis] = next.near
    if (outcomeOf(table, runTable(table, trial, failedOn)) !== outcome) break
    from = Math.min(from, next.from)
    to = Math.max(to, next.to)
  }
  trial[axis] = now
  return [axis, { from, to, near: cell.near }]
}

const nearestOf = (
  { compiled: { axes }, derived, meters }: Combination,
  outcome: Outcome,
  chosen: ReadonlyArray<readonly [number, Cell]>
): Nearest => {
  const names = new Set(chosen.map(([i]) => axes[i]!.name))
  const held = [
    ...derived.filter((one) => !names.has(one.name) && one.args.some((arg) => names.has(arg))).map((one) => one.name),
    ...meters
      .filter(
        (meter) =>
          !names.has(`meter:${meter.id}`) &&
          [meter.of, ...meter.where.map((filter) => filter.signal), ...meter.key].some(
            (name) => name !== null && names.has(name)
          )
      )
      .map((meter) => `meter:${meter.id}`)
  ]
  const changes = chosen.map(([i, cell]): Change => ({
    axis: axes[i]!.name,
    origin: axes[i]!.origin,
    from: said(axes[i]!, cell.from),
    to: said(axes[i]!, cell.to)
  }))
  const wishes = chosen.map(([i, cell]) => wish(axes[i]!, cell)).join(" and ")
  return {
    outcome,
    changes,
    held,
    sentence: `It would be ${outcome} if ${wishes}${held.length > 0 ? `, with ${held.join(", ")} as now` : ""}.`
  }
}

const said = (axis: Axis, at: number): number | string | boolean | null =>
  at < axis.min ? null : axis.values !== null ? axis.values[at]! : axis.kind === "bool" ? at === 1 : at

const wish = (axis: Axis, { from, to }: Cell): string => {
  if (from < axis.min) return `${axis.name} were absent`
  if (axis.text !== undefined) return `${axis.name} ${cellWords(axis.text, from)}`
  if (axis.kind !== "int" || from === to) return `${axis.name} were ${String(said(axis, from))}`
  if (to === axis.max) return `${axis.name} >= ${from}`
  return from === axis.min ? `${axis.name} <= ${to}` : `${axis.name} were ${from} to ${to}`
}
