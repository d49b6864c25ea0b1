/** Decisions shaped like the real starter traces: their arguments and results, with client refs that ascend in time. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { DecisionInput } from "@flyball/core"
import { readTraceLine } from "../apps/server/src/cli/import-trace/trace.ts"

const templates: ReadonlyArray<{ readonly [member: string]: unknown }> = readFileSync(
  fileURLToPath(new URL("../fixtures/traces/starter.ndjson", import.meta.url)),
  "utf8"
)
  .trimEnd()
  .split("\n")
  .map((line) => {
    const read = readTraceLine(JSON.parse(line))
    if (!read.ok) throw new Error(`a starter trace is not readable: expected ${read.expected}`)
    return read.trace.decision
  })
  .filter((decision) => decision["kind"] === "tool_call")

/** The decision with this number. */
export const decisionAt = (index: number): DecisionInput => {
  const template = templates[index % templates.length]!
  const { labels: _labels, ...members } = template
  return {
    ...members,
    client_ref: `run-${String(Math.floor(index / 10)).padStart(9, "0")}/step-${index % 10}`
  } as unknown as DecisionInput
}

/** `count` decisions from number `from` on. */
export const decisionsFrom = (from: number, count: number): ReadonlyArray<DecisionInput> =>
  Array.from({ length: count }, (_, index) => decisionAt(from + index))
