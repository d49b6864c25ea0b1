import { leastPoint } from "../../../language/boxes.ts"
import type { Compiled } from "../../../language/compiled.ts"
import { type EffectClass, effectClasses } from "../../../language/envelope.ts"
import { floorSentence } from "../../../language/floor-words.ts"
import { TIER_FLOOR } from "../../../language/tier-floor.ts"
import { bitsOf } from "../../cells/bits.ts"
import { admits } from "../../cells/cells.ts"
import type { Inspection } from "../inspection.ts"
import { severityOf } from "../../cells/ranking.ts"

/** From here on the agent does not act alone. A notice in place of a plain permission is no dead rule. */
const REVIEWED = severityOf("require_review")

/** Most tools that one finding has a sentence about, one of each effect class. */
const MAX_CLASSES = 3

/**
 * W213: a rule for which, at the tier of the agent, the tier floor reviews or denies and is more restrictive wherever
 * the rule holds.
 *
 * Exact: the floor tests the tool and the tier alone, and a box of the rule is a product. Rules that exclude the
 * agent's tier by a condition of their own are for another tier, and not reported.
 */
export const checkAgentTier = (inspection: Inspection): void => {
  const { facts, find, idOf, model, notChecked, ownRules, say } = inspection
  const { compiled } = model
  const tierAxis = compiled.axes.findIndex(({ name }) => name === "tier")
  const hasFloor = compiled.rules.some(({ id }) => id.startsWith(TIER_FLOOR))
  const at = facts.agentTier
  if (at === undefined || tierAxis === -1 || !hasFloor) {
    notChecked.push({
      code: "W213",
      rules: [],
      reason:
        at === undefined
          ? "The tier of one agent that the envelope is for was not given."
          : "The envelope was not compiled under the tier floor."
    })
    return
  }
  const toolAxis = compiled.axes.findIndex(({ kind, name }) => name === "tool" && kind === "enum")
  const floors = floorAt(compiled, tierAxis, toolAxis, at.tier)
  for (const rule of ownRules) {
    const { boxes, outcome } = compiled.rules[rule]!
    const place = boxes.findIndex((box) =>
      box.every((range) => range.axis !== tierAxis || admits(range, compiled.axes[tierAxis]!, at.tier))
    )
    if (place === -1) continue
    const reached = floors.filter(({ point }) =>
      boxes.some((box) =>
        box.every((range) => {
          if (range.axis === tierAxis) return admits(range, compiled.axes[tierAxis]!, at.tier)
          return range.axis !== toolAxis || admits(range, compiled.axes[toolAxis]!, point)
        })
      )
    )
    if (!reached.every(({ severity }) => severity >= REVIEWED && severity > severityOf(outcome))) continue
    const example = find("W213", [rule], { within: bitsOf(model.grid.words, [model.numbers[rule]![place]!]) })
    const firsts = reached.filter(({ effect }, i) => reached.findIndex((one) => one.effect === effect) === i)
    const sentences = firsts
      .slice(0, MAX_CLASSES)
      .map(({ effect, tool }) =>
        floorSentence(effect, tool === null ? "A call that names no tool" : `\`${tool}\``, at.needs)
      )
    say(
      "W213",
      [rule],
      `The rule ${idOf(rule)} says ${outcome} and decides nothing while the agent is at L${at.tier}: the tier floor ` +
        `is more restrictive wherever it holds. ${sentences.join(" ")} ` +
        "Raise the agent's tier, or keep the rule for later.",
      { example: example === null ? null : example.with(tierAxis, at.tier) }
    )
  }
}

/** Outcome of the tier floor for one tool at the agent's tier. */
interface FloorAt {
  /** The point on the axis of the tool; 0 where there is none. */
  readonly point: number
  readonly tool: string | null
  readonly effect: EffectClass
  /** -1 where the floor says nothing. */
  readonly severity: number
}

/** By tool, an absent one included. Without a signal `tool` there is one entry. */
const floorAt = (compiled: Compiled, tierAxis: number, toolAxis: number, tier: number): ReadonlyArray<FloorAt> => {
  const axis = compiled.axes[toolAxis]
  const least = axis === undefined ? 0 : leastPoint(axis)
  const points = axis === undefined ? [0] : Array.from({ length: axis.max - least + 1 }, (_, i) => least + i)
  const floor = compiled.rules.filter(({ id }) => id.startsWith(TIER_FLOOR))
  return points.map((point) => {
    const found = floor.find(({ boxes }) =>
      boxes.some((box) =>
        box.every((range) =>
          range.axis === tierAxis
            ? admits(range, compiled.axes[tierAxis]!, tier)
            : range.axis !== toolAxis || admits(range, axis!, point)
        )
      )
    )
    const [, name] = found?.id.split(":") ?? []
    return {
      point,
      tool: axis === undefined || point < axis.min ? null : axis.values![point]!,
      effect: effectClasses.find((effect) => effect === name) ?? "read",
      severity: found === undefined ? -1 : severityOf(found.outcome)
    }
  })
}
