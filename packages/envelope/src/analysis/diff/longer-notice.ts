import type { Combination } from "../../compile/compile.ts"
import { DEFAULT_NOTICE_MS } from "../../language/limits.ts"
import { type Bits, bitsOf } from "../cells/bits.ts"
import { exampleOn, type Inputs, inputsOf } from "../cells/inputs.ts"
import type { Budgets } from "../lint/inspection.ts"
import { MAX_ANALYSED_BOXES } from "../cells/model.ts"
import { NODE_BUDGET } from "../cells/diagram.ts"
import { severityOf } from "../cells/ranking.ts"
import { describeInputs, type SignalUnits } from "../render/diff-sentence.ts"
import { findInput, SEARCH_BUDGET } from "../cells/search.ts"
import { type Version, type Versions, versionsOf } from "./versions.ts"

const NOTICE = severityOf("allow_with_notice")

/**
 * Sets of which a search can be required to meet one member each. A question with more runs without the others: it may
 * find too much, never too little.
 */
const MAX_NEEDS = 16

/**
 * Describes, in sentences, where a notice may take longer in a new version than before; empty where it is proved that
 * it never may. Exact, but for conditions on derived signals and meters.
 *
 * Searches inputs that come out as `allow_with_notice` in both versions: any other change of theirs is one of outcomes,
 * which a diff compares.
 * - Spec: `SPEC.md` section 7, `notice_ms`; decision 0022.
 */
export const longerNotice = (
  from: Combination | null,
  to: Combination,
  { searchBudget = NODE_BUDGET }: Budgets = {},
  units: SignalUnits = new Map()
): ReadonlyArray<string> => {
  if (from === null) return []
  const [before, after] = [noticesOf(from), noticesOf(to)]
  if ([...before, ...after].every((ms) => ms === null || ms === undefined)) return []
  if (
    [from, to].reduce(
      (sum, { compiled }) => sum + compiled.rules.reduce((all, rule) => all + rule.boxes.length, 0),
      0
    ) > MAX_ANALYSED_BOXES
  )
    return [UNDECIDED]
  const versions = versionsOf(from.compiled, to.compiled)
  const rise = riseOf(versions, before, after, searchBudget)
  if (rise === null) return []
  return [
    rise === "open"
      ? UNDECIDED
      : `A notice may take more than ${rise.heldMs} ms where it took ${rise.heldMs} ms at most, for example ` +
        `${describeInputs(rise.example, units)}.`
  ]
}

const UNDECIDED = "Whether a notice may take longer than before was not decided within the budget."

/** By rule: the time it says for a notice, null if none; undefined for a rule with another outcome. */
type Notices = ReadonlyArray<number | null | undefined>

const noticesOf = ({ layers }: Combination): Notices =>
  layers.flatMap(({ rules }) =>
    rules.map(({ noticeMs, outcome }) => (outcome === "allow_with_notice" ? noticeMs : undefined))
  )

/** An input whose notice took at most `heldMs` and may take more. */
const riseOf = (
  versions: Versions,
  before: Notices,
  after: Notices,
  budget: number
): { readonly heldMs: number; readonly example: Inputs } | "open" | null => {
  const { common, grid } = versions
  const set = (numbers: Iterable<number>): Bits => bitsOf(grid.words, numbers)
  const none = [...silenced(versions.from), ...silenced(versions.to)]
  const need = [...layersOf(versions.from), ...layersOf(versions.to)].slice(0, MAX_NEEDS)
  let left = budget
  let isOpen = false
  for (const heldMs of new Set([DEFAULT_NOTICE_MS, ...before.flatMap((ms) => ms ?? [])])) {
    for (const was of within(versions.from, before, (ms) => ms <= heldMs)) {
      for (const is of exceeding(versions.to, after, heldMs)) {
        const answer = findInput(
          grid,
          { within: set([was.box, is.box]), avoid: set([...none, ...was.avoid, ...is.avoid]), need },
          Math.min(left, SEARCH_BUDGET)
        )
        left = Math.max(0, left - answer.states)
        if (answer.kind === "found") return { heldMs, example: inputsOf(common.axes, exampleOn(grid, answer.path)) }
        if (answer.kind === "open") isOpen = true
      }
    }
  }
  return isOpen ? "open" : null
}

/** A box that holds, with those that must not. */
interface Place {
  readonly box: number
  readonly avoid: ReadonlyArray<number>
}

const numbersOf = (
  { numbers }: Version,
  notices: Notices,
  picks: (ms: number | null) => boolean
): ReadonlyArray<number> => notices.flatMap((ms, rule) => (ms !== undefined && picks(ms) ? numbers[rule]! : []))

/**
 * Where the least time that a rule says is short: some rule says a short one, or none says any and the usual one is
 * short.
 */
const within = (version: Version, notices: Notices, isShort: (ms: number) => boolean): ReadonlyArray<Place> => [
  ...numbersOf(version, notices, (ms) => ms !== null && isShort(ms)).map((box) => ({ box, avoid: [] })),
  ...(isShort(DEFAULT_NOTICE_MS)
    ? numbersOf(version, notices, (ms) => ms === null).map((box) => ({
        box,
        avoid: numbersOf(version, notices, (ms) => ms !== null)
      }))
    : [])
]

/**
 * Where the least time that a rule says is above one: no rule says as little, and one says more or the usual one is
 * more.
 */
const exceeding = (version: Version, notices: Notices, heldMs: number): ReadonlyArray<Place> => {
  const avoid = numbersOf(version, notices, (ms) => ms !== null && ms <= heldMs)
  return numbersOf(version, notices, (ms) => (ms ?? DEFAULT_NOTICE_MS) > heldMs).map((box) => ({ box, avoid }))
}

/** Conditions that must not hold for an input whose outcome is a notice: refusals, and every more restrictive rule. */
const silenced = ({ compiled, invalid, numbers }: Version): ReadonlyArray<number> => [
  ...invalid,
  ...compiled.rules.flatMap(({ outcome }, rule) => (severityOf(outcome) > NOTICE ? numbers[rule]! : []))
]

/** Layers that must not be silent for it. */
const layersOf = ({ compiled, ofLayer }: Version): ReadonlyArray<Bits> =>
  compiled.otherwise.flatMap((outcome, layer) =>
    outcome === null || severityOf(outcome) <= NOTICE ? [] : [ofLayer[layer]!]
  )
