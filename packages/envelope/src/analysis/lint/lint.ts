import type { Compiled } from "../../language/compiled.ts"
import { checkAgentTier } from "./checks/agent-tier.ts"
import { checkBlastRadius } from "./checks/blast-radius.ts"
import { checkCached } from "./checks/cached.ts"
import { checkHistory } from "./checks/history.ts"
import { checkNeighbours } from "./checks/neighbours.ts"
import { checkOverlap } from "./checks/overlap.ts"
import { checkReach } from "./checks/reach.ts"
import { checkRedundant } from "./checks/redundant.ts"
import { checkSideEffects } from "./checks/side-effects.ts"
import { checkSurroundings } from "./checks/surroundings.ts"
import { checkTexts } from "./checks/texts.ts"
import { checkTier } from "./checks/tier.ts"
import { checkUncovered } from "./checks/uncovered.ts"
import { type LintCode, lintCodes, withoutExample } from "./codes.ts"
import type { LintFacts } from "./facts.ts"
import { type Budgets, inspect, type Inspection } from "./inspection.ts"
import type { LintFinding, LintReport, OpenQuestion } from "./lint-report.ts"
import { MAX_ANALYSED_BOXES } from "../cells/model.ts"
import { shareOf } from "../cells/share.ts"

/** Budgets of a lint, and the open questions that its reader accepts. */
export interface LintOptions extends Budgets {
  /** Codes whose questions may stay open, each by its name: where all open ones are named, E110 is a warning. */
  readonly acknowledgePartial?: ReadonlyArray<LintCode>
}

/** Everything a lint decides; E111 is decided at publication, from the diff. */
const requested: ReadonlyArray<LintCode> = [
  "E101",
  "E102",
  "E104",
  "E107",
  "E108",
  "W201",
  "W202",
  "W203",
  "W204",
  "W205",
  "W206",
  "W207",
  "W208",
  "W209",
  "W210",
  "W211",
  "W212",
  "W213",
  "W214",
  "W215",
  "W216",
  "W217"
]

/**
 * Reports every error and warning of an envelope, exactly: what it does not report is proved to be absent, unless the
 * report names it as open or not checked.
 *
 * Derived signals and meters count as inputs of their own. So an example may hold a combination that they never take; a
 * proof holds all the same.
 * The innermost layer is judged; outer layers count as they decide.
 * - Fails: never. Past its budget it says what is open, with E110.
 * - Spec: exact analysis of envelopes; decision 0022.
 */
export const lint = (compiled: Compiled, facts: LintFacts = {}, options: LintOptions = {}): LintReport => {
  const boxes = compiled.rules.reduce((sum, rule) => sum + rule.boxes.length, 0)
  if (boxes > MAX_ANALYSED_BOXES) return tooLarge(boxes, options)
  const inspection = inspect(compiled, facts, options)
  checkReach(inspection)
  checkTier(inspection)
  checkUncovered(inspection)
  checkRedundant(inspection)
  checkOverlap(inspection)
  checkNeighbours(inspection)
  checkHistory(inspection)
  checkSideEffects(inspection)
  checkBlastRadius(inspection)
  checkSurroundings(inspection)
  checkAgentTier(inspection)
  checkCached(inspection)
  checkTexts(inspection)
  const { findings, model, notChecked, open } = inspection
  const left = new Set([...open, ...notChecked].map(({ code }) => code))
  return {
    complete: open.length === 0,
    findings: inOrder([...findings, ...partial(open, options)]),
    proved: requested.filter((code) => !left.has(code)),
    open: grouped(open),
    notChecked: grouped(notChecked),
    domain: String(model.grid.volume),
    decides: decidesOf(inspection)
  }
}

/** E110, where something is open: an error, or a warning where every open code is acknowledged by name. */
const partial = (
  open: ReadonlyArray<OpenQuestion>,
  { acknowledgePartial = [] }: LintOptions
): ReadonlyArray<LintFinding> => {
  if (open.length === 0) return []
  const codes = [...new Set(open.map(({ code }) => code))].sort()
  const level = codes.every((code) => acknowledgePartial.includes(code)) ? "warning" : lintCodes.E110.level
  const message = withoutExample(
    "E110",
    `The analysis was not finished within its budget. Not decided: ${codes.join(", ")}. Everything else is. ` +
      "Simplify the rules, or acknowledge these codes by name."
  )
  return [
    {
      code: "E110",
      level,
      rules: [...new Set(open.flatMap(({ rules }) => rules))],
      message,
      example: null,
      volume: null,
      share: null,
      historyCount: null
    }
  ]
}

const tooLarge = (boxes: number, options: LintOptions): LintReport => {
  const open = requested.map((code): OpenQuestion => ({
    code,
    rules: [],
    reason: `The rules make ${boxes} boxes; ${MAX_ANALYSED_BOXES} are analysed at most.`
  }))
  return {
    complete: false,
    findings: partial(open, options),
    proved: [],
    open,
    notChecked: [],
    domain: null,
    decides: null
  }
}

/** One entry for each code and reason, with all rules it is about: of hundreds of rules each would say the same. */
const grouped = (questions: ReadonlyArray<OpenQuestion>): ReadonlyArray<OpenQuestion> => {
  const groups = new Map<string, OpenQuestion>()
  for (const { code, reason, rules } of questions) {
    const key = `${code} ${reason}`
    groups.set(key, { code, reason, rules: [...new Set([...(groups.get(key)?.rules ?? []), ...rules])] })
  }
  return [...groups.values()]
}

/** By code, then as found, which is the order of the rules. */
const inOrder = (findings: ReadonlyArray<LintFinding>): ReadonlyArray<LintFinding> =>
  [...findings].sort((left, right) => (left.code < right.code ? -1 : left.code > right.code ? 1 : 0))

const decidesOf = ({ model, own, volumes }: Inspection): Readonly<Record<string, string>> | null =>
  volumes === null
    ? null
    : Object.fromEntries(
        model.ranking.deciders.flatMap((decider, rank) => {
          if (decider.kind === "silence")
            return decider.layer === own ? [["@default", shareOf(volumes[rank]!, model.grid.volume)]] : []
          return [[model.compiled.rules[decider.rule]!.id, shareOf(volumes[rank]!, model.grid.volume)]]
        })
      )
