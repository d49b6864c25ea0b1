import type { Compiled, Outcome } from "../../language/compiled.ts"
import { countRegions, NODE_BUDGET, type Region } from "../cells/diagram.ts"
import type { DiffReport, Transition } from "./diff-report.ts"
import { findLaxer } from "./find-laxer.ts"
import type { Budgets } from "../lint/inspection.ts"
import { exampleOn, type Inputs, inputsOf, pointOf } from "../cells/inputs.ts"
import { MAX_ANALYSED_BOXES } from "../cells/model.ts"
import { severityOf } from "../cells/ranking.ts"
import { type SignalUnits, describeDiff } from "../render/diff-sentence.ts"
import { shareOf } from "../cells/share.ts"
import { verdictAt } from "../cells/verdict-at.ts"
import { outcomeOfRanks, outcomeSides, type Versions, versionsOf } from "./versions.ts"

/** Options of a diff. */
export interface DiffOptions extends Budgets {
  /** Recorded inputs, run through both versions. */
  readonly history?: ReadonlyArray<Inputs>
  /** Units of signals by name, for the sentence. */
  readonly units?: SignalUnits
}

/**
 * Compares what two versions say, input by input: exact, with an example for each transition.
 *
 * `from` null is a first version: before it everything was denied. Signals that differ are treated as `commonAxes`
 * says, and `notes` tell.
 * Where the diagram outgrows its budget, searches within single rules still try to prove whether anything is loosened.
 * - Fails: never.
 * - Spec: semantic diff and gate of publication; decision 0022.
 */
export const diff = (from: Compiled | null, to: Compiled, options: DiffOptions = {}): DiffReport => {
  const before = from ?? { axes: to.axes, rules: [], otherwise: ["deny"] }
  const boxes = [...before.rules, ...to.rules].reduce((sum, rule) => sum + rule.boxes.length, 0)
  if (boxes > MAX_ANALYSED_BOXES)
    return finished(
      before,
      to,
      [`The rules of both versions make ${boxes} boxes; ${MAX_ANALYSED_BOXES} are compared at most.`],
      [],
      "unknown",
      false,
      null,
      options
    )
  const versions = versionsOf(before, to)
  const sides = outcomeSides(versions.from, versions.boxes, 0)
  const counted = countRegions(
    versions.grid,
    [...sides, ...outcomeSides(versions.to, versions.boxes, sides.length)],
    options.budget
  )
  return counted.complete ? exact(versions, counted.regions, sides.length, options) : partial(versions, options)
}

const exact = (versions: Versions, regions: ReadonlyArray<Region>, first: number, options: DiffOptions): DiffReport => {
  const found = new Map<string, { from: Outcome; to: Outcome; volume: bigint; example: Region["example"] }>()
  for (const { example, ranks, volume } of regions) {
    const from = outcomeOfRanks(versions.from, ranks, 0)
    const to = outcomeOfRanks(versions.to, ranks, first)
    if (from === to) continue
    const before = found.get(`${from} ${to}`)
    if (before === undefined) found.set(`${from} ${to}`, { from, to, volume, example })
    else before.volume += volume
  }
  const transitions = [...found.values()].map(({ example, from, to, volume }) =>
    transition(versions, from, to, inputsOf(versions.common.axes, exampleOn(versions.grid, example)), volume)
  )
  const change =
    transitions.length === 0
      ? "equal"
      : transitions.some(({ direction }) => direction === "loosens")
        ? "loosens"
        : "tightening_only"
  return finished(
    versions.from.compiled,
    versions.to.compiled,
    versions.common.notes,
    transitions,
    change,
    true,
    versions.grid.volume,
    options
  )
}

const partial = (versions: Versions, options: DiffOptions): DiffReport => {
  const budget = options.searchBudget ?? NODE_BUDGET
  const looser = findLaxer(versions, versions.from, versions.to, budget)
  const tighter = findLaxer(versions, versions.to, versions.from, budget)
  const transitions = new Map<string, Transition>()
  for (const point of [...looser.points, ...tighter.points]) {
    const inputs = inputsOf(versions.common.axes, point)
    const [from, to] = [judge(versions.from.compiled, inputs), judge(versions.to.compiled, inputs)]
    if (!transitions.has(`${from.outcome} ${to.outcome}`))
      transitions.set(`${from.outcome} ${to.outcome}`, transition(versions, from.outcome, to.outcome, inputs, null))
  }
  const change =
    looser.points.length > 0
      ? "loosens"
      : !looser.complete
        ? "unknown"
        : tighter.points.length > 0
          ? "tightening_only"
          : tighter.complete
            ? "equal"
            : "unknown"
  return finished(
    versions.from.compiled,
    versions.to.compiled,
    versions.common.notes,
    [...transitions.values()],
    change,
    change === "equal",
    versions.grid.volume,
    options
  )
}

const transition = (
  { from, grid, to }: Versions,
  before: Outcome,
  after: Outcome,
  example: Inputs,
  volume: bigint | null
): Transition => ({
  from: before,
  to: after,
  direction: severityOf(after) < severityOf(before) ? "loosens" : "tightens",
  volume: volume === null ? null : String(volume),
  share: volume === null ? null : shareOf(volume, grid.volume),
  example,
  decidedBy: { from: judge(from.compiled, example).by, to: judge(to.compiled, example).by },
  historyCount: null
})

/** Outcome of a version at an input, and the rule that decides it. */
const judge = (compiled: Compiled, inputs: Inputs): { readonly outcome: Outcome; readonly by: string } => {
  const read = pointOf(
    compiled.axes,
    compiled.axes.some(({ name }) => Object.hasOwn(inputs, `${name} (new)`)) ? renamed(compiled, inputs) : inputs
  )
  if (!("point" in read))
    return { outcome: "deny", by: read.problem === "missing" ? "@missing_signal" : "@invalid_signal" }
  const decider = verdictAt(compiled, read.point)
  return { outcome: decider.outcome, by: decider.kind === "rule" ? compiled.rules[decider.rule]!.id : "@default" }
}

/** A signal that changed its type goes by two names; a version reads the value of its own type. */
const renamed = (compiled: Compiled, inputs: Inputs): Inputs =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => {
      const axis = compiled.axes.find((one) => one.name === name)
      const other = inputs[`${name} (new)`]
      const fits = axis === undefined || other === undefined || "point" in pointOf([axis], { [name]: value })
      return [name, fits ? value : other!]
    })
  )

const finished = (
  from: Compiled,
  to: Compiled,
  notes: ReadonlyArray<string>,
  unsorted: ReadonlyArray<Transition>,
  change: DiffReport["change"],
  complete: boolean,
  domain: bigint | null,
  { history, units }: DiffOptions
): DiffReport => {
  const counts = new Map<string, number>()
  for (const inputs of history ?? []) {
    const key = `${judge(from, inputs).outcome} ${judge(to, inputs).outcome}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const transitions = unsorted
    .map((one) => (history === undefined ? one : { ...one, historyCount: counts.get(`${one.from} ${one.to}`) ?? 0 }))
    .sort((left, right) =>
      left.direction === right.direction
        ? severityOf(right.from) - severityOf(left.from) || severityOf(left.to) - severityOf(right.to)
        : left.direction === "loosens"
          ? -1
          : 1
    )
  const report = {
    change,
    transitions,
    complete,
    domain: domain === null ? null : String(domain),
    notes,
    historyTotal: history?.length ?? null
  }
  return { ...report, sentence: describeDiff(report, units) }
}
