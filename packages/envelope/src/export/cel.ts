/**
 * An envelope as one CEL expression over the map `signals`: `{"outcome", "rule"}` of the rule that decides. The rules
 * stand in the order in which they win, so
 * the first that holds is the one: the most restrictive, of these the earliest.
 *
 * A result of two texts holds no obligations and no times: a rule that has some cannot be said.
 */
import type { Combination } from "../compile/compile.ts"
import { type Outcome, outcomes } from "../language/compiled.ts"
import { attributeLines, leftOut } from "./attributes.ts"
import { type Dialect, ruleExpression } from "./expression.ts"

/** Why an envelope cannot be said in CEL, a sentence each; empty if it can. */
export const celRefusals = ({ layers }: Combination): ReadonlyArray<string> =>
  layers
    .flatMap((layer) => layer.rules)
    .flatMap((rule) => {
      const more = [
        ...(rule.obligations.length > 0 ? ["obligations"] : []),
        ...(rule.noticeMs === null ? [] : ["notice_ms"]),
        ...(rule.retryAfterMs === null ? [] : ["retry_after_ms"]),
        ...(rule.suggestion === null ? [] : ["suggestion"])
      ]
      return more.length === 0
        ? []
        : [
            `The rule ${rule.id} has ${more.join(" and ")}, which an expression of CEL cannot answer. Export ` +
              "to Cedar, or without them."
          ]
    })

/** The expression as text. Precondition: `celRefusals` has none. */
export const toCel = (combination: Combination): string => {
  const { axes, otherwise, rules } = combination.compiled
  const sources = combination.layers.flatMap((layer) => layer.rules)
  const inOrder = rules
    .map((rule, place) => ({ rule, place }))
    .sort((a, b) => outcomes.indexOf(b.rule.outcome) - outcomes.indexOf(a.rule.outcome) || a.place - b.place)
  return (
    [
      // One line: a second comment right after the first is a syntax error in one of the parsers.
      '// Made from an envelope of envelope/1, one way: change that. Answers {"outcome", "rule"}. ' +
        `Check the map signals before, integers as int: ${attributeLines(combination).join("; ")}.` +
        leftOut(combination)
          .map((line) => ` ${line}.`)
          .join(""),
      "",
      ...inOrder.map(
        ({ place, rule }) =>
          `${ruleExpression(sources[place]!, rule, axes, dialect)}\n  ? ${answer(rule.outcome, rule.id)} :`
      ),
      answer(otherwise[0]!, "@default")
    ].join("\n") + "\n"
  )
}

const answer = (outcome: Outcome, rule: string): string => `{"outcome": "${outcome}", "rule": "${rule}"}`

/** Words of the language, and those that it keeps for others. */
const reserved = new Set([
  "true",
  "false",
  "null",
  "in",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while"
])
const isPlain = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)

const celText = (value: string): string => `"${[...value].map(escapedCharacter).join("")}"`

const escapedCharacter = (one: string): string =>
  one === '"' || one === "\\"
    ? `\\${one}`
    : one < " " || one === "\x7f"
      ? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`
      : one

const dialect: Dialect = {
  value: (name) => (isPlain(name) ? `signals.${name}` : `signals[${celText(name)}]`),
  isThere: (name) => `${celText(name)} in signals`,
  text: celText,
  isOneOf: (value, list) => `${value} in [${list.join(", ")}]`,
  beginsWith: (value, text) => `${value}.startsWith(${celText(text)})`,
  endsWith: (value, text) => `${value}.endsWith(${celText(text)})`,
  lengthOf: (value) => `size(${value})`
}
