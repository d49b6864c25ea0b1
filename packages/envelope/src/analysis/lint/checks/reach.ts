import { addAll, type Bits, bitsOf } from "../../cells/bits.ts"
import type { Inspection } from "../inspection.ts"
import { boxesOf, type Model } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"
import { findInput } from "../../cells/search.ts"
import { changesWithout, obligesAlone } from "./changes-without.ts"
import { boxesMeet } from "./overlap.ts"
import { listed } from "./words.ts"

/**
 * E101, E102, E107: rules that decide nothing.
 *
 * A rule that holds nowhere is E101. One that never decides, and without which no outcome and no obligation changes, is
 * E102; E107 where
 * outer layers alone outdo it with something
 * more restrictive, so that it can only have been meant to loosen.
 */
export const checkReach = (inspection: Inspection): void => {
  const { held, idOf, model, open, own, ownRules, say, volumes } = inspection
  const budget = { left: BLOCKER_BUDGET }
  model.compiled.rules.forEach((rule, index) => {
    if (rule.layer === own && rule.boxes.length === 0)
      say(
        "E101",
        [index],
        `The rule ${rule.id} holds for no input: its conditions exclude each other. Correct them or remove it.`
      )
  })
  for (const rule of ownRules) {
    const rank = model.ranking.ofRule[rule]!
    if (volumes === null ? !isDead(inspection, rule) : volumes[rank] !== 0n) continue
    // With outer layers a rule may decide nothing and still count: it keeps the default of its layer away.
    const before = open.length
    if (own > 0 && changesWithout(inspection, rule, "E102")) continue
    if (obligesAlone(inspection, rule, "E102") || open.length > before) continue
    const severity = severityOf(model.compiled.rules[rule]!.outcome)
    const stricter = model.compiled.rules.map((other) => other.layer < own && severityOf(other.outcome) > severity)
    const outer = model.compiled.otherwise.flatMap((outcome, layer) =>
      layer < own && outcome !== null && severityOf(outcome) > severity ? [layer] : []
    )
    if (own > 0 && isCovered(inspection, rule, (other) => stricter[other]!, outer)) {
      say(
        "E107",
        [rule],
        `The rule ${idOf(rule)} says ${model.compiled.rules[rule]!.outcome} and decides nothing: outer layers ` +
          "are more restrictive wherever it holds. A layer can only tighten; remove the rule or change the outer " +
          "layer.",
        { example: held(rule) }
      )
      continue
    }
    const blockers = blockersOf(inspection, rule, budget)
    const by = blockers.length === 0 ? "the defaults of other layers" : listed(blockers.map(idOf))
    say(
      "E102",
      [rule, ...blockers],
      `The rule ${idOf(rule)} decides nothing: wherever it holds, ${by} ` +
        `${blockers.length === 1 ? "decides" : "decide"} instead. Remove it, or make it differ.`,
      { example: held(rule) }
    )
  }
}

/** True when something of a better rank decides every input of the rule. False too where that stays open. */
const isDead = (inspection: Inspection, rule: number): boolean => {
  const { model } = inspection
  const rank = model.ranking.ofRule[rule]!
  const layers = model.ranking.ofLayer.flatMap((other, layer) => (other !== null && other < rank ? [layer] : []))
  return isCovered(inspection, rule, (other) => model.ranking.ofRule[other]! < rank, layers)
}

/** True when, wherever the rule holds, one of some other rules does or one of some layers is silent. */
const isCovered = (
  { find, model, open }: Inspection,
  rule: number,
  by: (rule: number) => boolean,
  layers: ReadonlyArray<number>
): boolean => {
  const avoid = boxesOf(model, (other) => other !== rule && by(other))
  const need = layers
    .filter((layer) => layer !== model.compiled.rules[rule]!.layer)
    .map((layer) => model.ofLayer[layer]!)
  const before = open.length
  return (
    model.numbers[rule]!.every(
      (box) => find("E102", [rule], { within: bitsOf(model.grid.words, [box]), avoid, need }) === null
    ) && open.length === before
  )
}

/**
 * Most tries, and states of their searches, that go into naming few blockers for all rules of a lint; past them more
 * are named than needed.
 */
const BLOCKER_BUDGET = 20_000

/** Rules that together stand in the way; none of them could be left out, as far as the budget for it reached. */
const blockersOf = ({ model }: Inspection, rule: number, budget: { left: number }): ReadonlyArray<number> => {
  const rank = model.ranking.ofRule[rule]!
  const layers = model.ranking.ofLayer.flatMap((other, layer) =>
    other !== null && other < rank && layer !== model.compiled.rules[rule]!.layer ? [layer] : []
  )
  const need = layers.map((layer) => model.ofLayer[layer]!)
  const mine = model.numbers[rule]!.map((box) => model.boxes[box]!)
  const between = [...model.compiled.rules.keys()].filter(
    (other) =>
      model.ranking.ofRule[other]! < rank &&
      model.numbers[other]!.some((box) => mine.some((own) => boxesMeet(own, model.boxes[box]!)))
  )
  const covers = (avoid: Bits): boolean =>
    model.numbers[rule]!.every((box) => {
      const answer = findInput(model.grid, { within: bitsOf(model.grid.words, [box]), avoid, need }, budget.left)
      budget.left = Math.max(0, budget.left - 1 - answer.states)
      return answer.kind === "none"
    })
  // Tried from the last on: beside one that is tried stand those before it, and those behind it that were kept.
  const before = unionsBefore(model, between)
  const kept: Array<number> = []
  const avoidKept = bitsOf(model.grid.words, [])
  for (let at = between.length - 1; at >= 0; at--) {
    const avoid = Uint32Array.from(avoidKept)
    addAll(avoid, before[at]!)
    if (budget.left > 0 && covers(avoid)) continue
    kept.push(between[at]!)
    addAll(avoidKept, model.ofRule[between[at]!]!)
  }
  return kept.toReversed()
}

/** For each of some rules, the boxes of those before it. */
const unionsBefore = ({ grid, ofRule }: Model, rules: ReadonlyArray<number>): ReadonlyArray<Bits> => {
  const union = bitsOf(grid.words, [])
  return rules.map((rule) => {
    const before = Uint32Array.from(union)
    addAll(union, ofRule[rule]!)
    return before
  })
}
