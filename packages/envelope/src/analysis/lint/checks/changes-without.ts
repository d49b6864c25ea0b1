import { type Bits, bitsOf } from "../../cells/bits.ts"
import type { LintCode } from "../codes.ts"
import type { Inspection } from "../inspection.ts"
import { boxesOf, laxerThan } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"

/**
 * Whether some outcome would change without a rule of the innermost layer. False too where that stays open, which the
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
