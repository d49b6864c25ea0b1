/** `json-logic-js`: one `if` of all rules, in the order in which they win. */
import type { Answer, Engine, Signals } from "./engines.ts"
import { installed } from "./installed.ts"
import { type Condition, inWinningOrder, silence } from "./wins.ts"

interface JsonLogic {
  readonly default: { readonly apply: (logic: object, data: Signals) => number }
}

/** See the file's first line. */
export const engine: Engine = {
  name: "json-logic-js 2.0.5",
  does: "ends at the first rule that holds",
  load: async (combination) => {
    const {
      default: { apply }
    } = await installed<JsonLogic>("json-logic-js")
    const rules = inWinningOrder(combination)
    const answers: ReadonlyArray<Answer> = [...rules.map((rule) => rule.answer), silence(combination)]
    const logic = {
      if: [
        ...rules.flatMap((rule, i) => [{ or: rule.boxes.map((box) => ({ and: box.map(conditionOf) })) }, i]),
        rules.length
      ]
    }
    return (signals) => () => answers[apply(logic, signals)]!
  }
}

const conditionOf = (condition: Condition): object => {
  const value = { var: condition.name }
  if ("values" in condition)
    return condition.values.length === 1 ? { "===": [value, condition.values[0]] } : { in: [value, condition.values] }
  if (condition.from !== null && condition.to !== null) return { "<=": [condition.from, value, condition.to] }
  return condition.from !== null ? { ">=": [value, condition.from] } : { "<=": [value, condition.to] }
}
