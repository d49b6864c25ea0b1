import { listed } from "../lint/checks/words.ts"
import type { Condition, Constant, Test } from "../../language/envelope.ts"
import type { Names } from "./names.ts"
import { renderValue } from "./value.ts"

/**
 * A condition in words: "confidence is under 50.00 %". `nested`: inside another one, so that a list of several stands
 * in brackets.
 */
export const renderCondition = (condition: Condition, names: Names, nested = false): string => {
  switch (condition.kind) {
    case "test":
      return `${names.label(condition.name)} ${renderTest(condition.test, names.unit(condition.name))}`
    case "not":
      return `not (${renderCondition(condition.of, names)})`
    case "any":
    case "all": {
      const parts = condition.of.map((one) => renderCondition(one, names, true))
      const text = parts.join(condition.kind === "any" ? " or " : " and ")
      return nested && parts.length > 1 ? `(${text})` : text
    }
  }
}

/** Several conditions that must all hold. An `any` among others stands in brackets. */
export const renderAll = (conditions: ReadonlyArray<Condition>, names: Names): string =>
  conditions.map((one) => renderCondition(one, names, conditions.length > 1)).join(" and ")

/** The condition on one value, as the rest of a sentence that begins with its name. */
export const renderTest = (test: Test, unit: string | null): string => {
  const value = ({ param, value }: Constant): string =>
    `${renderValue(value, unit)}${param === null ? "" : ` (${param})`}`
  switch (test.op) {
    case "in":
      return `is ${listed(test.values.map(value), "or")}`
    case "nin":
      return test.values.length === 1
        ? `is not ${value(test.values[0]!)}`
        : `is neither ${test.values.map(value).join(" nor ")}`
    case "eq":
      return `is ${value(test.value)}`
    case "lt":
      return `is under ${value(test.value)}`
    case "lte":
      return `is at most ${value(test.value)}`
    case "gt":
      return `is over ${value(test.value)}`
    case "gte":
      return `is at least ${value(test.value)}`
    case "between":
      return `is from ${value(test.from)} to ${value(test.to)}`
    case "prefix":
      return `begins with ${value(test.prefix)}`
    case "suffix":
      return `ends with ${value(test.value)}`
    case "under":
      return `is under ${value(test.value)}`
    case "length":
      return `has ${value(test.from)} to ${value(test.to)} characters`
    case "readable":
      return test.value ? "is readable" : "is not readable"
    case "is":
      return `is ${test.value}`
    case "present":
      return test.value ? "is given" : "is not given"
  }
}
