/** `json-rules-engine`: one of its rules for each, the most restrictive event decides. */
import type { Answer, Engine, Signals } from "./engines.ts"
import { installed } from "./installed.ts"
import { type Condition, inWinningOrder, silence } from "./wins.ts"

interface RulesEngine {
  readonly run: (
    facts: Signals
  ) => Promise<{ readonly events: ReadonlyArray<{ readonly params: { readonly place: number } }> }>
}

interface JsonRulesEngine {
  readonly Engine: new (rules: ReadonlyArray<object>) => RulesEngine
}

/** See the file's first line. */
export const engine: Engine = {
  name: "json-rules-engine 7.3.1",
  does: "all rules",
  load: async (combination) => {
    const { Engine: Made } = await installed<JsonRulesEngine>("json-rules-engine")
    const rules = inWinningOrder(combination)
    const made = new Made(
      rules.map((rule, place) => ({
        conditions: { any: rule.boxes.map((box) => ({ all: box.flatMap(conditionsOf) })) },
        event: { type: "held", params: { place } }
      }))
    )
    return (signals) => async (): Promise<Answer> => {
      const { events } = await made.run(signals)
      const first = events.reduce((least, { params }) => Math.min(least, params.place), rules.length)
      return rules[first]?.answer ?? silence(combination)
    }
  }
}

const conditionsOf = (condition: Condition): ReadonlyArray<object> => {
  const fact = condition.name
  if ("values" in condition)
    return [
      condition.values.length === 1
        ? { fact, operator: "equal", value: condition.values[0] }
        : { fact, operator: "in", value: condition.values }
    ]
  return [
    ...(condition.from === null ? [] : [{ fact, operator: "greaterThanInclusive", value: condition.from }]),
    ...(condition.to === null ? [] : [{ fact, operator: "lessThanInclusive", value: condition.to }])
  ]
}
