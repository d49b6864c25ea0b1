/**
 * The rules laid out in memory, and the one loop that runs them all: the trace tells of every rule, so none is left
 * out.
 *
 * For each segment of neighbouring axes a row of bytes says at which of them each box fails. Rows are put together four
 * boxes at a time: a byte that
 * is not 0 stays, a later segment's goes where there is still 0. Nothing in that depends on an outcome, so a processor
 * has nothing to guess.
 *
 * Spec: `SPEC.md` section 8.
 */
import { type Compiled, type Outcome, outcomes } from "../language/compiled.ts"
import { BYTES, type Group, groupsOf, MAX_GROUP, type Segment, type Step } from "./segments.ts"

/** Value in place of the failed axis, for a rule that holds and for one without boxes. */
export const HOLDS = -1

/** Value in place of the failed axis, for a rule that can hold nowhere. */
export const HOLDS_NOWHERE = -2

/** A compiled envelope in memory. */
export interface Table {
  readonly compiled: Compiled
  /** A trace in which nothing holds, to copy: `failedOn` of the right length. */
  readonly blank: ReadonlyArray<number>
  readonly layers: Int32Array
  readonly severities: Int32Array
  /** By layer; -1 where it says nothing. */
  readonly otherwise: Int32Array
  /** The rule of each box. */
  readonly ruleOfBox: Int32Array
  /** True when every rule is one box: then no rule is put together again. */
  readonly isOneBoxEach: boolean
  readonly groups: ReadonlyArray<Group>
  /** Memory for the group at hand: of each box a byte, 0 or 1 + the axis it failed on. */
  readonly words: Int32Array
}

/** Place of the deciding rule; of a layer that is silent -1 - its place. */
export type Verdict = number

/** Lays out a compiled envelope. */
export const tableOf = (compiled: Compiled): Table => {
  return {
    compiled,
    blank: compiled.rules.map(() => HOLDS_NOWHERE),
    layers: Int32Array.from(compiled.rules, (rule) => rule.layer),
    severities: Int32Array.from(compiled.rules, (rule) => outcomes.indexOf(rule.outcome)),
    otherwise: Int32Array.from(compiled.otherwise, (outcome) => (outcome === null ? -1 : outcomes.indexOf(outcome))),
    ruleOfBox: Int32Array.from(compiled.rules.flatMap((rule, place) => rule.boxes.map(() => place))),
    isOneBoxEach: compiled.rules.every((rule) => rule.boxes.length === 1),
    groups: groupsOf(
      compiled.rules.flatMap((rule) => rule.boxes),
      compiled.axes
    ),
    words: new Int32Array(MAX_GROUP / BYTES)
  }
}

/**
 * Runs all rules at a point. Into `failedOn`, which has an element for each rule, goes -1 where it holds, -2 where it
 * can hold nowhere, and else the axis at
 * which, going through the axes in their order, no point of the rule is left: the farthest that any of its boxes gets.
 * So it does not depend on how a rule is
 * cut into boxes.
 *
 * - Answers: the earliest of the most restrictive rules that hold, or the first layer whose silence is more restrictive
 *   than all of them.
 */
export const runTable = (table: Table, point: Float64Array, failedOn: Array<number>): Verdict => {
  const { blank, groups, isOneBoxEach, layers, otherwise, ruleOfBox, severities, words } = table
  if (!isOneBoxEach) for (let rule = 0; rule < blank.length; rule++) failedOn[rule] = HOLDS_NOWHERE
  let best: Verdict = 0
  let worst = -1
  let answered = 0
  let first = 0
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i]!
    runGroup(group, point, words)
    if (isOneBoxEach) writeTrace(words, first, group.boxes, failedOn)
    else
      for (let box = 0; box < group.boxes; box++) {
        const axis = failedAt(words, box)
        const rule = ruleOfBox[first + box]!
        if (axis === HOLDS || (failedOn[rule] !== HOLDS && axis > failedOn[rule]!)) failedOn[rule] = axis
      }
    for (let word = 0; word < group.words; word++) {
      for (let open = ~failedBytes(words[word]!) & ONES; open !== 0; open &= open - 1) {
        const rule = ruleOfBox[first + BYTES * word + ((31 - Math.clz32(open & -open)) >>> 3)]!
        answered |= 1 << layers[rule]!
        if (severities[rule]! > worst) {
          worst = severities[rule]!
          best = rule
        }
      }
    }
    first += group.boxes
  }
  for (let layer = 0; layer < otherwise.length; layer++) {
    if (((answered >>> layer) & 1) === 0 && otherwise[layer]! > worst) {
      worst = otherwise[layer]!
      best = -1 - layer
    }
  }
  return best
}

/** Of each box of a group the byte that its segments say: the first that is not 0. */
const runGroup = ({ segments, words: count }: Group, point: Float64Array, words: Int32Array): void => {
  for (let i = 0; i < segments.length; i++) {
    const { rows, steps } = segments[i]!
    const row = rowAt(steps, point)
    if (i === 0) for (let word = 0; word < count; word++) words[word] = rows[row + word]!
    else
      for (let word = 0; word < count; word++) {
        const failed = words[word]!
        words[word] = failed | (rows[row + word]! & ~Math.imul(failedBytes(failed), 0xff))
      }
  }
}

/** The axis that each box failed on. Word by word, because a shift by a constant costs least. */
const writeTrace = (words: Int32Array, first: number, boxes: number, failedOn: Array<number>): void => {
  for (let box = 0; box < boxes; box += BYTES) {
    const failed = words[box >>> 2]!
    failedOn[first + box] = (failed & 0xff) - 1
    if (box + 1 < boxes) failedOn[first + box + 1] = ((failed >>> 8) & 0xff) - 1
    if (box + 2 < boxes) failedOn[first + box + 2] = ((failed >>> 16) & 0xff) - 1
    if (box + 3 < boxes) failedOn[first + box + 3] = (failed >>> 24) - 1
  }
}

/** The axis that a box failed on, or -1. */
const failedAt = (words: Int32Array, box: number): number => ((words[box >>> 2]! >>> ((box & 3) << 3)) & 0xff) - 1

const ONES = 0x01010101

/**
 * A word with a 1 in each byte where there is not 0. A byte is at most 127: as much again sets its highest bit, unless
 * it is 0, and carries into no other.
 */
const failedBytes = (word: number): number => ((word + 0x7f7f7f7f) >>> 7) & ONES

/** The place of a cell's row. */
const rowAt = (steps: Segment["steps"], point: Float64Array): number => {
  let row = 0
  for (let i = 0; i < steps.length; i++) {
    const { axis, bounds, least, offsets }: Step = steps[i]!
    const value = point[axis]!
    if (bounds === null) row += offsets[(value - least) | 0]!
    else row += offsets[passed(bounds, value)]!
  }
  return row
}

/** How many bounds are not above a value. */
const passed = (bounds: Float64Array, value: number): number => {
  let from = 0
  let to = bounds.length
  // Halving costs more than it saves where little is left.
  while (to - from > 8) {
    const middle = (from + to) >>> 1
    if (value >= bounds[middle]!) from = middle + 1
    else to = middle
  }
  while (from < to && value >= bounds[from]!) from++
  return from
}

/** Severity of a verdict. */
export const severityOf = (table: Table, verdict: Verdict): number =>
  verdict >= 0 ? table.severities[verdict]! : table.otherwise[-1 - verdict]!

/** Outcome of a verdict. */
export const outcomeOf = (table: Table, verdict: Verdict): Outcome => outcomes[severityOf(table, verdict)]!
