import type { Condition, Envelope, Rule } from "../../language/envelope.ts"
import { renderAll, renderCondition, renderTest } from "./condition.ts"
import { namesOf } from "./names.ts"

/**
 * An envelope as a decision table: a row a rule, a column for each thing that rules test. Cells are texts; the last row
 * is the default.
 */
export interface DecisionTable {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/**
 * Lays out an envelope the way DMN does, hit policy "priority": the order of rows has no meaning but in a tie.
 *
 * A test of one signal stands in its column; `any` and `not` go into the column "further", exceptions into "unless".
 * "-" means: anything.
 */
export const decisionTable = (envelope: Envelope): DecisionTable => {
  const names = namesOf(envelope)
  const order = [
    ...envelope.signals.map(({ name }) => name),
    ...envelope.derived.map(({ name }) => name),
    ...envelope.meters.map(({ id }) => `meter:${id}`)
  ]
  const tested = order.filter((name) =>
    envelope.rules.some(({ when }) => when.some((one) => one.kind === "test" && one.name === name))
  )
  const further = envelope.rules.some(({ when }) => when.some(isFurther))
  const unless = envelope.rules.some((rule) => rule.unless.length > 0)
  const cellsOf = (rule: Rule): ReadonlyArray<string> => [
    ...tested.map((name) =>
      filled(
        rule.when.flatMap((one) =>
          one.kind === "test" && one.name === name ? [renderTest(one.test, names.unit(name)).replace(/^is /, "")] : []
        ),
        " and "
      )
    ),
    ...(further
      ? [
          filled(
            rule.when
              .filter(isFurther)
              .map((one) => renderCondition(one, names, rule.when.filter(isFurther).length > 1)),
            " and "
          )
        ]
      : []),
    ...(unless
      ? [
          filled(
            rule.unless.map((exception) => renderAll(exception, names)),
            "; or "
          )
        ]
      : [])
  ]
  const columns = [
    "P",
    "rule",
    ...tested.map(names.label),
    ...(further ? ["further"] : []),
    ...(unless ? ["unless"] : []),
    "outcome",
    "reason"
  ]
  const rows = envelope.rules.map((rule, index) => [
    String(index + 1),
    rule.id,
    ...cellsOf(rule),
    rule.outcome,
    rule.reason ?? ""
  ])
  const middle = columns.length - 4
  if (envelope.otherwise !== null)
    rows.push(["", "@default", ...Array.from({ length: middle }, () => "-"), envelope.otherwise, "No rule holds."])
  return { columns, rows }
}

const isFurther = (condition: Condition): boolean => condition.kind !== "test"
const filled = (parts: ReadonlyArray<string>, between: string): string =>
  parts.length === 0 ? "-" : parts.join(between)

/** Renders a decision table in Markdown. */
export const tableAsMarkdown = ({ columns, rows }: DecisionTable): string => {
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell) => cell.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`
  return [line(columns), `|${columns.map(() => "---|").join("")}`, ...rows.map(line), ""].join("\n")
}

/** The table as text with columns of one width each. */
export const tableAsText = ({ columns, rows }: DecisionTable): string => {
  const all = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll("\n", " ")))
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()
  return [line(all[0]!), widths.map((width) => "-".repeat(width)).join("  "), ...all.slice(1).map(line), ""].join("\n")
}
