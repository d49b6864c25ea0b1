import type { Combination } from "../../compile/compile.ts"
import { prepare } from "../../decide/decide.ts"
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
  const inputs: Array<Inputs> = []
  for (const evaluation of evaluations) {
    const point = pointOfRecord(ready, evaluation)
    if (point !== null) inputs.push(inputsOf(combination.compiled.axes, [...point]))
  }
  return inputs
}
