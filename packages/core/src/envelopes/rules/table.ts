/**
 * The rules as bit masks, and the one loop that runs them all: the trace tells of every rule, so none is left out.
 *
 * Boxes stand in groups of 32. For each axis that a group tests, a mask for each stretch between two bounds says which boxes admit it; the boxes that hold are
 * what is left after one `and` an axis. That is a load or two for each axis in place of a jump for each range, which a processor cannot foresee. How many
 * an evaluation has passed is counted in seven binary digits, hence `MAX_AXES`.
 *
 * Spec: `SPEC.md` section 8.
 */
import { hasBit, leastPoint } from "./boxes.ts"
import { type Box, type Compiled, type Outcome, outcomes, type Range } from "./compiled.ts"

/** Of a rule that holds, and of one that has no boxes, in place of the axis it failed on. */
export const HOLDS = -1
export const HOLDS_NOWHERE = -2

const GROUP = 32

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
  /** By group: which of its 32 places are boxes, and where its tests begin; one more entry ends the last. */
  readonly occupied: Int32Array
  readonly testsFrom: Int32Array
  /** By test: its axis; the least point of an axis where each point is a stretch of its own, else NaN; where its bounds begin in `bounds` (one more ends the last); where its masks begin in `masks`. */
  readonly axes: Int32Array
  readonly directFrom: Float64Array
  readonly boundsFrom: Int32Array
  readonly masksFrom: Int32Array
  /** By group and number of tests passed: the axis of the next test, after the last one -1. A group's begin at its `testsFrom` plus its own number. */
  readonly axisAfter: Int32Array
  /** Whether every rule is one box: then nothing of a rule has to be put together again. */
  readonly isOneBoxEach: boolean
  /** Of each test but the first stretch, where the stretches begin, ascending. */
  readonly bounds: Float64Array
  readonly masks: Int32Array
}

/** Which rule decides (its place), or which layer by its silence (-1 - its place). */
export type Verdict = number

/** Lays out a compiled envelope. */
export const tableOf = (compiled: Compiled): Table => {
  const boxes = compiled.rules.flatMap((rule) => rule.boxes)
  const groups = Array.from({ length: Math.ceil(boxes.length / GROUP) }, (_, i) => boxes.slice(i * GROUP, (i + 1) * GROUP))
  const tests = groups.map((group) => testsOf(group, compiled))
  const all = tests.flat()
  return {
    compiled,
    blank: compiled.rules.map(() => HOLDS_NOWHERE),
    layers: Int32Array.from(compiled.rules, (rule) => rule.layer),
    severities: Int32Array.from(compiled.rules, (rule) => outcomes.indexOf(rule.outcome)),
    otherwise: Int32Array.from(compiled.otherwise, (outcome) => (outcome === null ? -1 : outcomes.indexOf(outcome))),
    ruleOfBox: Int32Array.from(compiled.rules.flatMap((rule, place) => rule.boxes.map(() => place))),
    occupied: Int32Array.from(groups, (group) => (group.length === GROUP ? -1 : (1 << group.length) - 1)),
    testsFrom: running(tests.map((group) => group.length)),
    axes: Int32Array.from(all, (test) => test.axis),
    axisAfter: Int32Array.from(tests.flatMap((group) => [...group.map((test) => test.axis), HOLDS])),
    isOneBoxEach: compiled.rules.every((rule) => rule.boxes.length === 1),
    directFrom: Float64Array.from(all, (test) => (compiled.axes[test.axis]!.kind === "int" ? Number.NaN : leastPoint(compiled.axes[test.axis]!))),
    boundsFrom: running(all.map((test) => test.starts.length - 1)),
    masksFrom: running(all.map((test) => test.starts.length)),
    bounds: Float64Array.from(all.flatMap((test) => test.starts.slice(1))),
    masks: Int32Array.from(all.flatMap((test) => test.masks))
  }
}

/**
 * Runs all rules at a point. Into `failedOn`, which has an element for each rule, goes -1 where it holds, -2 where it can hold nowhere, and else the axis at
 * which, going through the axes in their order, no point of the rule is left: the farthest that any of its boxes gets. So it does not depend on how a rule is
 * cut into boxes.
 *
 * - Answers: the earliest of the most restrictive rules that hold, or the first layer whose silence is more restrictive than all of them.
 */
export const runTable = (table: Table, point: Float64Array, failedOn: Array<number>): Verdict => {
  const { axes, axisAfter, blank, bounds, boundsFrom, directFrom, isOneBoxEach, layers, masks, masksFrom, occupied, otherwise, ruleOfBox, severities, testsFrom } = table
  if (!isOneBoxEach) for (let rule = 0; rule < blank.length; rule++) failedOn[rule] = HOLDS_NOWHERE
  let best: Verdict = 0
  let worst = -1
  let heard = 0
  for (let group = 0; group < occupied.length; group++) {
    const firstTest = testsFrom[group]!
    const lastTest = testsFrom[group + 1]!
    let alive = occupied[group]!
    // How many tests each box has passed, a bit plane for each binary digit: 32 counters in seven words, and no jump that depends on a box.
    let ones = 0
    let twos = 0
    let fours = 0
    let eights = 0
    let sixteens = 0
    let thirtyTwos = 0
    let sixtyFours = 0
    for (let test = firstTest; test < lastTest; test++) {
      const value = point[axes[test]!]!
      let stretch = value - directFrom[test]!
      if (Number.isNaN(stretch)) {
        const first = boundsFrom[test]!
        const last = boundsFrom[test + 1]!
        let bound = first
        while (bound < last && value >= bounds[bound]!) bound++
        stretch = bound - first
      }
      alive &= masks[masksFrom[test]! + stretch]!
      const two = ones & alive
      const four = twos & two
      const eight = fours & four
      ones ^= alive
      twos ^= two
      fours ^= four
      if (eight === 0) continue
      const sixteen = eights & eight
      const thirtyTwo = sixteens & sixteen
      eights ^= eight
      sixteens ^= sixteen
      sixtyFours ^= thirtyTwos & thirtyTwo
      thirtyTwos ^= thirtyTwo
    }
    const count = lastTest - firstTest
    const firstBox = group * GROUP
    const boxes = Math.min(GROUP, ruleOfBox.length - firstBox)
    const after = firstTest + group
    if (isOneBoxEach && count <= 15) {
      for (let box = 0; box < boxes; box++) failedOn[firstBox + box] = axisAfter[after + (((ones >>> box) & 1) | (((twos >>> box) & 1) << 1) | (((fours >>> box) & 1) << 2) | (((eights >>> box) & 1) << 3))]!
    } else for (let box = 0; box < boxes; box++) {
      let passed = ((ones >>> box) & 1) | (((twos >>> box) & 1) << 1) | (((fours >>> box) & 1) << 2)
      if (count > 7) passed |= (((eights >>> box) & 1) << 3) | (((sixteens >>> box) & 1) << 4) | (((thirtyTwos >>> box) & 1) << 5) | (((sixtyFours >>> box) & 1) << 6)
      const rule = ruleOfBox[firstBox + box]!
      const failed = failedOn[rule]!
      const axis = axisAfter[after + passed]!
      if (axis === HOLDS || (failed !== HOLDS && axis > failed)) failedOn[rule] = axis
    }
    for (; alive !== 0; alive &= alive - 1) {
      const rule = ruleOfBox[firstBox + 31 - Math.clz32(alive & -alive)]!
      heard |= 1 << layers[rule]!
      if (severities[rule]! > worst) {
        worst = severities[rule]!
        best = rule
      }
    }
  }
  for (let layer = 0; layer < otherwise.length; layer++) {
    if (((heard >>> layer) & 1) === 0 && otherwise[layer]! > worst) {
      worst = otherwise[layer]!
      best = -1 - layer
    }
  }
  return best
}

/** How severe a verdict is. */
export const severityOf = (table: Table, verdict: Verdict): number => (verdict >= 0 ? table.severities[verdict]! : table.otherwise[-1 - verdict]!)

/** What a verdict says. */
export const outcomeOf = (table: Table, verdict: Verdict): Outcome => outcomes[severityOf(table, verdict)]!

interface AxisTest {
  readonly axis: number
  /** Where the stretches begin, the first at the least point. */
  readonly starts: ReadonlyArray<number>
  /** By stretch: the boxes of the group that admit it. */
  readonly masks: ReadonlyArray<number>
}

/** The tests of up to 32 boxes, by axis ascending. */
const testsOf = (group: ReadonlyArray<Box>, { axes }: Compiled): ReadonlyArray<AxisTest> => {
  const tested = [...new Set(group.flatMap((box) => box.map((range) => range.axis)))].sort((a, b) => a - b)
  return tested.map((axis) => {
    const least = leastPoint(axes[axis]!)
    const ranges = group.map((box) => box.find((range) => range.axis === axis) ?? null)
    const starts = startsOf(ranges.filter((range) => range !== null), least, axes[axis]!.max)
    return { axis, starts, masks: starts.map((start) => ranges.reduce((mask, range, place) => (range === null || admits(range, start, least) ? mask | (1 << place) : mask), 0)) }
  })
}

const startsOf = (ranges: ReadonlyArray<Range>, least: number, max: number): ReadonlyArray<number> => {
  const starts = new Set([least])
  for (const range of ranges) {
    if (range.kind === "set") for (let point = least; point <= max; point++) starts.add(point)
    else for (const bound of [range.from, range.to + 1]) if (bound <= max) starts.add(bound)
  }
  return [...starts].sort((a, b) => a - b)
}

const admits = (range: Range, point: number, least: number): boolean => (range.kind === "interval" ? point >= range.from && point <= range.to : hasBit(range.bits, point - least))

const running = (counts: ReadonlyArray<number>): Int32Array => {
  const sums = new Int32Array(counts.length + 1)
  counts.forEach((count, i) => {
    sums[i + 1] = sums[i]! + count
  })
  return sums
}
