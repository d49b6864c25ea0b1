import { HOLDS } from "../compile/table.ts"
import { both, type Boxes, either, everything, interval, nothing, TooManyBoxes } from "../language/boxes.ts"
import type { Axis, Compiled } from "../language/compiled.ts"
import type { Scalar } from "../language/envelope.ts"
import { bitsOf } from "./cells/bits.ts"
import { exampleOn, type Inputs, inputsOf, placeOf } from "./cells/inputs.ts"
import { laxerThan, MAX_ANALYSED_BOXES, modelOf } from "./cells/model.ts"
import { severityOf } from "./cells/ranking.ts"
import { findInput, SEARCH_BUDGET } from "./cells/search.ts"

/** The values that a box admits on one axis. */
export type Admitted =
  | { readonly eq: Scalar }
  | { readonly at_most: number }
  | { readonly one_of: ReadonlyArray<Scalar> }

/**
 * The proof that a box of inputs stays within what one review covers. `wider`: `rule` asks for a review somewhere in
 * the box, as at `example`, and it did not ask about the action that was reviewed. `open`: that was not decided within
 * the budget, and nothing is claimed. `misfit`: an axis has no such value. Spec: decision 0050.
 */
export type BoxProof =
  | { readonly kind: "proved" }
  | { readonly kind: "open" }
  | { readonly kind: "wider"; readonly rule: string; readonly example: Inputs }
  | { readonly kind: "misfit"; readonly axis: string }

/**
 * Most work of one proof: states of all searches together, some seconds at the worst. Spec: decisions 0022 and 0050.
 */
export const PROOF_BUDGET = 4 * SEARCH_BUDGET

/**
 * A proof, and the work that it took, in states of a search: those that were visited, one for each search, and what it
 * took to lay out the boxes. Who proves many boxes bounds the sum.
 */
export interface MeasuredProof {
  readonly proof: BoxProof
  readonly work: number
}

/** Laying out takes the square of the boxes on each axis; so many take about as long as one state of a search. */
const LAID_OUT_BY_STATE = 100

/**
 * Lists what requires a review at a verdict: the places of rules, and for a silent layer -1 minus its place. Ascending.
 * The input says where each rule failed, -1 where it holds. Spec: format 1 section 8, `standing_approval.proposed`;
 * decision 0050.
 */
export const askingFor = (compiled: Compiled, failedOn: ReadonlyArray<number>): ReadonlyArray<number> => [
  ...compiled.otherwise
    .flatMap((outcome, layer) =>
      outcome === "require_review" &&
      !compiled.rules.some((rule, place) => rule.layer === layer && failedOn[place] === HOLDS)
        ? [-1 - layer]
        : []
    )
    .toReversed(),
  ...compiled.rules.flatMap(({ outcome }, place) =>
    outcome === "require_review" && failedOn[place] === HOLDS ? [place] : []
  )
]

/**
 * Proves that wherever a box comes out at `require_review`, nothing asks for it but what required the review of one
 * action. Inputs that come out at `deny` or `halt` do not matter: no approval loosens these.
 *
 * - `admitted`: by the name of an axis. Axes without an entry are free, meters and latches among them; so are derived
 *   signals, which can only find an input too many.
 * - `asking`: what required the review of the action, see {@link askingFor}.
 * - Spec: exact analysis; decisions 0022 and 0050.
 */
export const proveBox = (
  compiled: Compiled,
  admitted: Readonly<Record<string, Admitted>>,
  asking: ReadonlyArray<number>
): BoxProof => measuredProof(compiled, admitted, asking).proof

/** The proof of {@link proveBox} with the work that it took. Spec: decisions 0022 and 0050. */
export const measuredProof = (
  compiled: Compiled,
  admitted: Readonly<Record<string, Admitted>>,
  asking: ReadonlyArray<number>
): MeasuredProof => {
  const added = boxesOf(compiled, admitted)
  if ("kind" in added) return { proof: added, work: 1 }
  const own = compiled.rules.reduce((sum, { boxes }) => sum + boxes.length, 0)
  if (own + added.length > MAX_ANALYSED_BOXES) return { proof: { kind: "open" }, work: 1 }
  const model = modelOf(compiled, (box) => box, added)
  const { avoid, need } = laxerThan(model, severityOf("deny"))
  let left = PROOF_BUDGET
  let work = 1 + Math.ceil((compiled.axes.length * (own + added.length) ** 2) / LAID_OUT_BY_STATE)
  let isOpen = false
  const exampleIn = (within: ReadonlyArray<number>, more: ReadonlyArray<number>): Inputs | null => {
    const answer = findInput(
      model.grid,
      {
        within: bitsOf(model.grid.words, within),
        avoid: more.length === 0 ? avoid : avoid.map((word, at) => word | bitsOf(model.grid.words, more)[at]!),
        need
      },
      Math.min(left, SEARCH_BUDGET)
    )
    left = Math.max(0, left - answer.states)
    work += 1 + answer.states
    if (answer.kind === "open") isOpen = true
    return answer.kind === "found" ? inputsOf(compiled.axes, exampleOn(model.grid, answer.path)) : null
  }
  const known = new Set(asking)
  for (let box = own; box < own + added.length; box++) {
    for (const [place, { id, outcome }] of compiled.rules.entries()) {
      if (outcome !== "require_review" || known.has(place)) continue
      for (const part of model.numbers[place]!) {
        const example = exampleIn([box, part], [])
        if (example !== null) return { proof: { kind: "wider", rule: id, example }, work }
        // With nothing left each further search would only be set up: there are up to a million.
        if (left === 0) return { proof: { kind: "open" }, work }
      }
    }
    for (const [layer, outcome] of compiled.otherwise.entries()) {
      if (outcome !== "require_review" || known.has(-1 - layer)) continue
      const spoken = model.numbers.flatMap((parts, place) => (compiled.rules[place]!.layer === layer ? parts : []))
      const example = exampleIn([box], spoken)
      if (example !== null) return { proof: { kind: "wider", rule: "@default", example }, work }
    }
  }
  return { proof: { kind: isOpen ? "open" : "proved" }, work }
}

/** The boxes that values admit; a proof where an axis has no such value, or they are too many. */
const boxesOf = (
  compiled: Compiled,
  admitted: Readonly<Record<string, Admitted>>
): Boxes | Extract<BoxProof, { readonly kind: "misfit" | "open" }> => {
  let boxes: Boxes = everything
  try {
    for (const [index, axis] of compiled.axes.entries()) {
      const values = Object.hasOwn(admitted, axis.name) ? admitted[axis.name] : undefined
      if (values === undefined) continue
      const points = pointsOf(index, axis, values)
      if (points.length === 0) return { kind: "misfit", axis: axis.name }
      boxes = both(boxes, points)
    }
  } catch (cause) {
    if (cause instanceof TooManyBoxes) return { kind: "open" }
    throw cause
  }
  return boxes
}

const pointsOf = (index: number, axis: Axis, values: Admitted): Boxes => {
  if ("at_most" in values)
    return axis.kind === "int" && Number.isFinite(values.at_most)
      ? interval(index, axis, axis.min, Math.floor(values.at_most))
      : nothing
  const admitted = "eq" in values ? [values.eq] : values.one_of
  return admitted.reduce((points: Boxes, value) => {
    const place = placeOf(axis, value)
    return place === null ? points : either(points, interval(index, axis, place, place))
  }, nothing)
}
