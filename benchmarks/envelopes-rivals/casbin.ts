/** `casbin`: a policy row for each rule, its condition in the row, the first row that holds by `priority`. */
import type { Answer, Engine, Signals } from "./engines.ts"
import { installed } from "./installed.ts"
import { type Condition, inWinningOrder, silence } from "./wins.ts"

interface Enforcer {
  readonly addPolicies: (rows: ReadonlyArray<ReadonlyArray<string>>) => Promise<boolean>
  readonly enforceExSync: (signals: Signals) => readonly [boolean, ReadonlyArray<string>]
}

interface Casbin {
  readonly newEnforcer: (model: object) => Promise<Enforcer>
  readonly newModelFromString: (text: string) => object
}

const model = `
[request_definition]
r = x
[policy_definition]
p = sub_rule, place, eft
[policy_effect]
e = priority(p.eft) || deny
[matchers]
m = eval(p.sub_rule)
`

/** See the file's first line. */
export const engine: Engine = {
  name: "casbin 5.51.1",
  does: "ends at the first rule that holds",
  load: async (combination) => {
    const { newEnforcer, newModelFromString } = await installed<Casbin>("casbin")
    const rules = inWinningOrder(combination)
    const enforcer = await newEnforcer(newModelFromString(model))
    await enforcer.addPolicies(
      rules.map((rule, place) => [
        rule.boxes.map((box) => `(${box.map(expressionOf).join(" && ")})`).join(" || "),
        String(place),
        "allow"
      ])
    )
    return (signals) => (): Answer => {
      const [held, row] = enforcer.enforceExSync(signals)
      return held ? rules[Number(row[1])]!.answer : silence(combination)
    }
  }
}

const expressionOf = (condition: Condition): string => {
  const value = `r.x.${condition.name}`
  if ("values" in condition) {
    const equal = condition.values.map((one) => `${value} == ${typeof one === "string" ? `'${one}'` : one}`)
    return `(${equal.join(" || ")})`
  }
  return [
    ...(condition.from === null ? [] : [`${value} >= ${condition.from}`]),
    ...(condition.to === null ? [] : [`${value} <= ${condition.to}`])
  ].join(" && ")
}
