/**
 * An envelope as Cedar policies, one a rule, in the order of the rules: `permit` for what may run, `forbid` for what
 * may not.
 *
 * Cedar knows two outcomes. Which of ours it is stands in the annotation `outcome` of the policies that Cedar names as
 * the reason: the most restrictive of
 * them decides, the earliest of these is the rule. A forbid wins in Cedar and is always the more restrictive here, so
 * no reason is missing. No reason: the default.
 */
import type { Combination } from "../compile/compile.ts"
import type { CompiledRule } from "../language/compiled.ts"
import type { Condition, Rule } from "../language/envelope.ts"
import { obligationJson } from "../language/obligations.ts"
import { attributeLines, leftOut } from "./attributes.ts"
import { type Dialect, ruleExpression } from "./expression.ts"

/** Why an envelope cannot be said in Cedar, a sentence each; empty if it can. */
export const cedarRefusals = ({ layers }: Combination): ReadonlyArray<string> =>
  layers
    .flatMap((layer) => layer.rules)
    .filter(({ unless, when }) => [...when, ...unless.flat()].some(testsLength))
    .map(
      ({ id }) => `The rule ${id} tests the length of a text, which Cedar does not know. Export to CEL, or without it.`
    )

const testsLength = (condition: Condition): boolean =>
  condition.kind === "test"
    ? condition.test.op === "length"
    : condition.kind === "not"
      ? testsLength(condition.of)
      : condition.of.some(testsLength)

/** The policies as text. Every text in the envelope is well formed. */
export const toCedar = (combination: Combination): string => {
  const { compiled, layers } = combination
  const rules = layers.flatMap((layer) => layer.rules)
  return (
    [
      "// Made from an envelope of envelope/1. One way: change the envelope, and export it again.",
      "// Of the policies that are named as the reason, the most restrictive annotation outcome decides: " +
        "allow, allow_with_notice, require_review, deny, halt.",
      `// Without a reason the outcome is ${compiled.otherwise[0]}. Check the context first, Cedar does not ` +
        "see what lies outside these domains:",
      ...attributeLines(combination).map((line) => `//   ${line}`),
      ...leftOut(combination).map((line) => `// ${line}.`),
      ...compiled.rules.map((rule, place) => `\n${policyOf(rule, rules[place]!, combination)}`)
    ].join("\n") + "\n"
  )
}

const policyOf = (compiled: CompiledRule, rule: Rule, { compiled: { axes } }: Combination): string => {
  const may = rule.outcome === "allow" || rule.outcome === "allow_with_notice"
  const notes: ReadonlyArray<readonly [string, string | number | null]> = [
    ["id", rule.id],
    ["outcome", rule.outcome],
    ["reason", rule.reason],
    ["notice_ms", rule.noticeMs],
    ["retry_after_ms", rule.retryAfterMs],
    ["suggestion", rule.suggestion],
    ["obligations", rule.obligations.length === 0 ? null : JSON.stringify(rule.obligations.map(obligationJson))]
  ]
  return [
    ...notes.flatMap(([name, value]) => (value === null ? [] : [`@${name}(${cedarText(String(value))})`])),
    `${may ? "permit" : "forbid"} (principal, action, resource)`,
    `when { ${ruleExpression(rule, compiled, axes, dialect)} };`
  ].join("\n")
}

/** Words that stand for something else where an attribute is named. */
const reserved = new Set(["true", "false", "if", "then", "else", "in", "is", "like", "has"])
const isPlain = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)

const cedarText = (value: string): string => `"${[...value].map(escapedCharacter).join("")}"`

const escapedCharacter = (one: string): string =>
  one === '"' || one === "\\"
    ? `\\${one}`
    : one < " " || one === "\x7f"
      ? `\\u{${one.codePointAt(0)!.toString(16)}}`
      : one

/** A text in a pattern of `like`, without its quotes. */
const patternOf = (text: string): string => cedarText(text).slice(1, -1).replaceAll("*", "\\*")

const dialect: Dialect = {
  value: (name) => (isPlain(name) ? `context.${name}` : `context[${cedarText(name)}]`),
  isThere: (name) => `context has ${isPlain(name) ? name : cedarText(name)}`,
  text: cedarText,
  isOneOf: (value, list) => `[${list.join(", ")}].contains(${value})`,
  beginsWith: (value, text) => `${value} like "${patternOf(text)}*"`,
  endsWith: (value, text) => `${value} like "*${patternOf(text)}"`,
  lengthOf: null
}
