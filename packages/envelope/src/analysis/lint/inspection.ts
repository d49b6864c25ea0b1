import { canonicalBytes } from "@flyball/evidence"
import type { Compiled } from "../../language/compiled.ts"
import { type Bits, bitsOf } from "../cells/bits.ts"
import { type LintCode, lintCodes, type LintLevel, withoutExample } from "./codes.ts"
import { countRegions, NODE_BUDGET } from "../cells/diagram.ts"
import type { LintFacts } from "./facts.ts"
import { countHistory, type HistoryCount } from "../backtest/history-count.ts"
import { exampleOn, type Inputs, inputsOf } from "../cells/inputs.ts"
import type { LintFinding, OpenQuestion } from "./lint-report.ts"
import { decidingSides, type Model, modelOf, volumesOf } from "../cells/model.ts"
import { findInput, type Query, SEARCH_BUDGET } from "../cells/search.ts"
import { shareOf } from "../cells/share.ts"
import type { Point } from "../cells/verdict-at.ts"

/** State shared by the checks of one lint: the envelope laid out, and one place for findings and open questions. */
export interface Inspection {
  readonly model: Model
  readonly facts: LintFacts
  /**
   * The layer under inspection, the innermost, and its rules that hold somewhere. Outer layers were inspected when they
   * were published.
   */
  readonly own: number
  readonly ownRules: ReadonlyArray<number>
  /** Points by the rank of what decides them; null when the budget was spent. */
  readonly volumes: ReadonlyArray<bigint> | null
  readonly nodes: number
  readonly history: HistoryCount | null
  readonly findings: Array<LintFinding>
  readonly open: Array<OpenQuestion>
  readonly notChecked: Array<OpenQuestion>
  readonly idOf: (rule: number) => string
  /** Searches a layout for an input. Null means proved that there is none, unless the question is now among `open`. */
  readonly find: (code: LintCode, rules: ReadonlyArray<number>, query: Partial<Query>, model?: Model) => Point | null
  /** An input for which a rule holds; null where there is none. Costs no budget. */
  readonly held: (rule: number) => Point | null
  readonly say: (code: LintCode, rules: ReadonlyArray<number>, message: string, more?: Reported) => void
}

/** Members that a finding may add to its sentence. */
export interface Reported {
  readonly example?: Point | null
  /** The same where it is no point of the domain. */
  readonly input?: Inputs
  readonly volume?: bigint
  readonly historyCount?: number
  readonly level?: LintLevel
}

/** Budgets of analysis. Both default to 200,000. */
export interface Budgets {
  /** Most nodes of a diagram. */
  readonly budget?: number
  /** Most states of all searches together, of which each may take 50,000. */
  readonly searchBudget?: number
}

/**
 * Bytes that the errors of one lint may take, and all else that it finds, as JSON: more would help nobody, and a part
 * of a record has to hold both.
 *
 * Each has its own, so that no number of warnings hides an error.
 */
export const MAX_REPORTED_BYTES = 4 * 1024 * 1024

/** Why something that was found is among the open questions. */
const TOO_MUCH = "More was found than one lint report holds."

/** Lays out an envelope and counts who decides what. */
export const inspect = (
  compiled: Compiled,
  facts: LintFacts,
  { budget = NODE_BUDGET, searchBudget = NODE_BUDGET }: Budgets = {}
): Inspection => {
  const model = modelOf(compiled)
  const counted = countRegions(model.grid, decidingSides(model), budget)
  const own = compiled.otherwise.length - 1
  const findings: Array<LintFinding> = []
  const open: Array<OpenQuestion> = []
  const idOf = (rule: number): string => compiled.rules[rule]!.id
  const none = bitsOf(model.grid.words, [])
  let left = searchBudget
  const reportedBytes = { error: 0, other: 0 }
  return {
    model,
    facts,
    own,
    findings,
    open,
    idOf,
    ownRules: [...compiled.rules.keys()].filter(
      (rule) => compiled.rules[rule]!.layer === own && compiled.rules[rule]!.boxes.length > 0
    ),
    volumes: counted.complete ? volumesOf(model, counted) : null,
    nodes: counted.nodes,
    history: facts.history === undefined ? null : countHistory(compiled, facts.history.inputs),
    notChecked: [],
    find: (code, rules, query, { grid } = model) => {
      const empty: Bits = none.length === grid.words ? none : bitsOf(grid.words, [])
      const answer = findInput(
        grid,
        { within: query.within ?? empty, avoid: query.avoid ?? empty, need: query.need ?? [] },
        Math.min(left, SEARCH_BUDGET)
      )
      left = Math.max(0, left - answer.states)
      if (answer.kind === "found") return exampleOn(grid, answer.path)
      if (
        answer.kind === "open" &&
        !open.some((one) => one.code === code && one.rules.join() === rules.map(idOf).join())
      ) {
        open.push({ code, rules: rules.map(idOf), reason: "The search for an example did not end within its budget." })
      }
      return null
    },
    held: (rule) => {
      const box = model.numbers[rule]![0]
      const answer =
        box === undefined
          ? null
          : findInput(model.grid, { within: bitsOf(model.grid.words, [box]), avoid: none, need: [] })
      return answer?.kind === "found" ? exampleOn(model.grid, answer.path) : null
    },
    say: (
      code,
      rules,
      message,
      {
        example = null,
        historyCount,
        input = example === null ? null : inputsOf(compiled.axes, example),
        level,
        volume
      } = {}
    ) => {
      const finding: LintFinding = {
        code,
        level: level ?? lintCodes[code].level,
        rules: rules.map(idOf),
        message: input === null ? withoutExample(code, message) : message,
        example: input,
        volume: volume === undefined ? null : String(volume),
        share: volume === undefined ? null : shareOf(volume, model.grid.volume),
        historyCount: historyCount ?? null
      }
      const kind = finding.level === "error" ? "error" : "other"
      if (reportedBytes[kind] <= MAX_REPORTED_BYTES) reportedBytes[kind] += canonicalBytes(finding).length
      if (reportedBytes[kind] <= MAX_REPORTED_BYTES) findings.push(finding)
      else open.push({ code, rules: finding.rules, reason: TOO_MUCH })
    }
  }
}
