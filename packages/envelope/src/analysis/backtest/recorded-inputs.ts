import type { Combination } from "../../compile/compile.ts"
import { prepare } from "../../decide/decide.ts"
import { placeOfText } from "../../language/text-cells.ts"
import { type Inputs, inputsOf } from "../cells/inputs.ts"
import type { RecordedEvaluation } from "./recorded-evaluation.ts"
import { pointOfRecord } from "./replay-one.ts"

/**
 * The inputs of recorded evaluations under an envelope, with derived signals computed and meters as recorded: the
 * history that `lint` and `diff` count on.
 *
 * Records that cannot be replayed, or whose signals the envelope refuses, have none and are left out. Spec: decision
 * 0022.
 */
export const recordedInputs = (
  evaluations: Iterable<RecordedEvaluation>,
  combination: Combination
): ReadonlyArray<Inputs> => {
  const ready = prepare(combination)
  const texts = ready.decoder.steps.filter(({ text }) => text !== null)
  const inputs: Array<Inputs> = []
  for (const evaluation of evaluations) {
    for (const { last } of texts) last.text = null
    const point = pointOfRecord(ready, evaluation)
    if (point === null) continue
    // Another version may divide texts otherwise, so the text itself counts and not that of its cell. Of a list the
    // element that decided may be another than the last one.
    const given = texts.flatMap(({ last, name, place, text }) =>
      last.text === null || placeOfText(text!, last.text) !== point[place] ? [] : [[name, last.text] as const]
    )
    inputs.push({ ...inputsOf(combination.compiled.axes, [...point]), ...Object.fromEntries(given) })
  }
  return inputs
}
