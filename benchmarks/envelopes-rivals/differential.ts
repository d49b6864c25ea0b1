/**
 * `npm run slow -- differential`: the exports to Cedar and CEL say what the envelope says, through engines that are not
 * ours. Fixed seed; `--seed N` for another.
 */
import { readFileSync } from "node:fs"
import { compile } from "../../packages/envelope/src/compile/compile.ts"
import { type Axis, outcomes } from "../../packages/envelope/src/language/compiled.ts"
import { readEnvelope } from "../../packages/envelope/src/language/read-envelope.ts"
import { normalOf, placeOfText, type TextCells } from "../../packages/envelope/src/language/text-cells.ts"
import { runTable, severityOf, tableOf } from "../../packages/envelope/src/compile/table.ts"
import { envelopeJson } from "../envelopes-set.ts"
import { engine as bufbuildCel } from "./bufbuild-cel.ts"
import { engine as cedar } from "./cedar.ts"
import { areInstalled, howToInstall, type Signals } from "./engines.ts"

const INPUTS = 20_000
const SEED = 20_261_122

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/envelopes/export/${name}.json`, import.meta.url), "utf8"))

/**
 * Asks all of them 20,000 times altogether, the same inputs of Cedar and of CEL. Answers whether they always agreed.
 */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  if (!areInstalled()) throw new Error(`${howToInstall}.`)
  const seed = args[0] === "--seed" ? Number(args[1]) : SEED
  const envelopes = {
    "twenty rules": envelopeJson,
    absence: fixture("absence"),
    attributes: fixture("attributes"),
    texts: fixture("texts"),
    "text signals": fixture("text-signals")
  }
  let differing = 0
  for (const [name, json] of Object.entries(envelopes)) {
    const { combination } = compile([readEnvelope(json).envelope!])
    const { axes, rules } = combination!.compiled
    const table = tableOf(combination!.compiled)
    const loaded = [await cedar.load(combination!, json), await bufbuildCel.load(combination!, json)]
    const seen = new Set<string>()
    const points = pointsOf(
      axes,
      combination!.compiled.rules.flatMap((rule) => rule.boxes.flat()),
      seed
    )
    for (let i = 0; i < INPUTS / Object.keys(envelopes).length; i++) {
      const { point, texts } = points()
      const verdict = runTable(table, point, [])
      const expected = {
        outcome: outcomes[severityOf(table, verdict)]!,
        rule: verdict < 0 ? "@default" : rules[verdict]!.id
      }
      seen.add(expected.rule)
      const signals = { ...signalsAt(point, axes), ...texts }
      for (const [which, load] of loaded.entries()) {
        const answer = await load(signals)()
        if (answer.outcome === expected.outcome && answer.rule === expected.rule) continue
        if (differing++ < 5)
          console.error(
            `${name}, ${which === 0 ? "Cedar" : "CEL"}: ${answer.outcome} by ${answer.rule}, ours ` +
              `${expected.outcome} by ${expected.rule}, of ${JSON.stringify(signals)}`
          )
      }
    }
    console.log(
      `${name}: ${INPUTS / Object.keys(envelopes).length} inputs, ${seen.size} of ${rules.length + 1} verdicts came up`
    )
  }
  console.log(`${INPUTS} inputs of seed ${seed} through Cedar and CEL: ${differing} answers differ.`)
  return differing === 0
}

/**
 * Points of the grid, half of the integers at a bound of some rule or one beside it. Texts are made of the constants of
 * rules, and given as the engines read them: their normal form, or nothing.
 */
const pointsOf = (
  axes: ReadonlyArray<Axis>,
  ranges: ReadonlyArray<{ readonly axis: number; readonly kind: string; readonly from?: number; readonly to?: number }>,
  seed: number
) => {
  let state = seed >>> 0
  const below = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
  const bounds = axes.map((axis, i) => [
    axis.min,
    axis.max,
    ...ranges.flatMap((range) => (range.axis === i && range.kind === "interval" ? [range.from!, range.to!] : []))
  ])
  const textOf = ({ prefixes, suffixes, values }: TextCells): string => {
    const part = (from: ReadonlyArray<string>): string => from[below(from.length)]!
    if (below(4) === 0) return part(values)
    const [start, end] = [part([...prefixes, ...values]), part([...suffixes, ...values])]
    const between = part(["", "", "/", ".", "a", "*", "\u00fc"])
    return `${start.slice(0, start.length - below(3))}${between}${end.slice(below(3))}`
  }
  return (): { readonly point: Float64Array; readonly texts: Signals } => {
    const texts: Record<string, string> = {}
    const point = Float64Array.from(axes, (axis, i) => {
      if (axis.mayBeAbsent && below(4) === 0) return axis.min - 1
      if (axis.text !== undefined) {
        const text = textOf(axis.text)
        texts[axis.name] = normalOf(axis.text, text) ?? ""
        return placeOfText(axis.text, text)
      }
      if (axis.kind !== "int" || below(2) === 0) return axis.min + below(axis.max - axis.min + 1)
      return Math.min(axis.max, Math.max(axis.min, bounds[i]![below(bounds[i]!.length)]! - 1 + below(3)))
    })
    return { point, texts }
  }
}

const signalsAt = (point: Float64Array, axes: ReadonlyArray<Axis>): Signals =>
  Object.fromEntries(
    axes.flatMap((axis, i) => {
      const at = point[i]!
      if (at < axis.min) return []
      return [[axis.name, axis.kind === "int" ? at : axis.kind === "bool" ? at === 1 : axis.values![at]!]]
    })
  )

if (import.meta.main) process.exit((await run(process.argv.slice(2))) ? 0 : 1)
