import { type Bits, bitsOf } from "../../cells/bits.ts"
import { mergeObligations } from "../../../language/obligations.ts"
import type { LintCode } from "../codes.ts"
import type { Inspection } from "../inspection.ts"
import { boxesOf, laxerThan } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"

/**
 * True when some outcome would change without a rule of the innermost layer. False too where that stays open, which the
 * inspection then notes under `code`.
 *
 * An input may come out laxer without it; or stricter, where it was the only one of its layer to speak, and the layer's
 * default steps in.
 */
export const changesWithout = ({ find, model, own }: Inspection, rule: number, code: LintCode): boolean => {
  const { compiled, grid, numbers, ofLayer, ofRule } = model
  const severity = severityOf(compiled.rules[rule]!.outcome)
  const without = (bits: Bits): Bits => bits.map((word, at) => word & ~ofRule[rule]![at]!)
  const laxer = laxerThan(model, severity)
  const silence = compiled.otherwise[own]
  const defaultSeverity = silence === null || silence === undefined ? -1 : severityOf(silence)
  return numbers[rule]!.some((box) => {
    const within = bitsOf(grid.words, [box])
    if (find(code, [rule], { within, avoid: without(laxer.avoid), need: laxer.need.map(without) }) !== null) return true
    if (defaultSeverity <= severity) return false
    const avoid = boxesOf(
      model,
      (other) =>
        other !== rule &&
        (compiled.rules[other]!.layer === own || severityOf(compiled.rules[other]!.outcome) >= defaultSeverity)
    )
    const need = compiled.otherwise.flatMap((outcome, layer) =>
      layer !== own && outcome !== null && severityOf(outcome) >= defaultSeverity ? [ofLayer[layer]!] : []
    )
    return find(code, [rule], { within, avoid, need }) !== null
  })
}

/**
 * True when a rule of the innermost layer alone obliges to something, where an action may still run or by a denial of
 * its own. False too where that stays open, or where the obligations were not given.
 */
export const obligesAlone = ({ facts, find, model, own }: Inspection, rule: number, code: LintCode): boolean => {
  const { compiled, grid, numbers } = model
  const given = new Map(facts.envelope?.rules.map(({ id, obligations }) => [id, obligations]))
  const obligationsOf = (place: number) => {
    const { id, layer } = compiled.rules[place]!
    return layer === own ? (given.get(id) ?? []) : []
  }
  const denies = severityOf("deny")
  const severity = severityOf(compiled.rules[rule]!.outcome)
  const counts = (other: number): boolean =>
    severity < denies || severityOf(compiled.rules[other]!.outcome) === severity
  const outcome = laxerThan(model, severity < denies ? denies : severity + 1)
  return obligationsOf(rule).some((one) => {
    const covers = (other: number): boolean =>
      counts(other) &&
      obligationsOf(other).some((same) => {
        const merged = mergeObligations([same, one])
        return merged.length === 1 && JSON.stringify(merged[0]) === JSON.stringify(same)
      })
    const covered = boxesOf(model, (other) => other !== rule && covers(other))
    const avoid = outcome.avoid.map((word, at) => word | covered[at]!)
    return numbers[rule]!.some(
      (box) => find(code, [rule], { within: bitsOf(grid.words, [box]), avoid, need: outcome.need }) !== null
    )
  })
}
