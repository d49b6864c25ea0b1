/** Reads a line of a trace as the decision that is witnessed. */
import { decodeWitness } from "@flyball/contract"
import { readJson } from "@flyball/evidence"
import { Result } from "effect"
import type { Line } from "./lines.ts"
import { readTraceLine } from "./trace.ts"
import { LineProblem, type TraceLine } from "./witness-lines.ts"

/** The decision of a line. Fails with {@link LineProblem}, which names the line. */
export const readLine = ({ bytes, number }: Line): TraceLine => {
  const json = readJson(bytes, { keepRaw: (path) => path.length === 1 && (path[0] === "args" || path[0] === "result") })
  if (!json.ok) throw new LineProblem(number, jsonProblems[json.reason](json.offset))
  const read = readTraceLine(json.value)
  if (!read.ok) throw new LineProblem(number, `expected ${read.expected}`)
  const decoded = decodeWitness(read.trace.decision)
  if (Result.isFailure(decoded))
    throw new LineProblem(number, decoded.failure.map(({ loc, msg }) => `${memberOf(loc)}: ${msg}`).join("; "))
  return { agent: read.trace.agent, decision: decoded.success[0]!, line: number, bytes: bytes.length }
}

const jsonProblems = {
  size: () => "the line is too long",
  utf8: (offset: number) => `the text is not UTF-8 from byte ${offset} of the line`,
  syntax: (offset: number) => `the JSON is malformed at byte ${offset} of the line`,
  depth: (offset: number) => `the JSON is nested too deeply at byte ${offset} of the line`,
  duplicate: (offset: number) => `a name occurs twice in one object, at byte ${offset} of the line`
} as const

/** The trace's word for a member of a decision, where it has another. */
const memberOf = (loc: ReadonlyArray<string>): string => {
  const path = loc.slice(1).join(".")
  return (
    {
      client_ref: "id",
      observed_at: "ts",
      "usage.input_tokens": "tokens_in",
      "usage.output_tokens": "tokens_out",
      "usage.cost_micro_usd": "cost_usd"
    }[path] ?? path
  )
}
