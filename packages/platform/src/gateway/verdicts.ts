/** Judges tool calls of a model before its client gets them: evaluated, reviewed where it needs that, on record. */
import { type Evaluations, Reviews, type Scope, type Writer } from "@flyball/core"
import type { Evaluation } from "@flyball/contract"
import { Effect } from "effect"
import { evaluateAct } from "../calling-agent.ts"
import type { ToolCall } from "./codec.ts"
import type { JudgedTool, OpenCall } from "./ledger.ts"

/** A judged call, and the sentence that stands in its place where it is refused. */
export interface Verdict extends JudgedTool {
  readonly sentence: string | null
}

/** For whom a call is judged. */
export interface JudgedFor {
  readonly call: OpenCall
  readonly writer: Writer
  readonly scope: Scope
  /** How long a review may take before the call is refused. Unit: milliseconds. */
  readonly reviewWaitMs: number
}

/** Longest name of an action on record. */
const MAX_NAME = 200

const passes = (outcome: Evaluation["outcome"]): boolean => outcome === "allow" || outcome === "allow_with_notice"

/** Judges a call. `at`: its number in the answer. */
export const judgeCall = Effect.fnUntraced(function* (
  { call: { agentId, id }, reviewWaitMs, scope, writer }: JudgedFor,
  { args: text, isFree, name }: ToolCall,
  at: number
): Effect.fn.Return<Verdict, never, Evaluations | Reviews> {
  const refused = (why: string, evaluationId: string | null = null, approvalId: string | null = null): Verdict => ({
    name: shownName(name),
    isRefused: true,
    evaluationId,
    approvalId,
    sentence: `[The tool call ${shownName(name)} was refused: ${why.replace(/\.+$/, "")}.]`
  })
  if (shownName(name) !== name) return refused("its name cannot be recorded.")
  const args = isFree ? { input: text } : argsOf(text)
  if (args === null) return refused("its arguments are no JSON object.")
  const evaluate = (ref: string, approvalId: string | null = null) =>
    evaluateAct({ agentId, action: name, args, ref, approvalId }, writer, scope)
  return yield* Effect.gen(function* () {
    const first = yield* evaluate(`${id}:${at}`)
    if (passes(first.outcome)) return allowed(name, first, null)
    if (first.outcome !== "require_review" || first.review_id === null)
      return refused(`${first.matched_rule}${first.reason === null ? "" : `, ${first.reason}`}.`, first.id)
    const reviews = yield* Reviews
    const review = yield* reviews.wait(first.review_id, reviewWaitMs, scope)
    if (review.status !== "resolved" || review.resolution !== "approve")
      return refused(`it needs an approval, ${review.id}, which is ${review.resolution ?? review.status}.`, first.id)
    const second = yield* evaluate(`${id}:${at}:approved`, review.id)
    return passes(second.outcome)
      ? allowed(name, second, review.id)
      : refused(`${second.matched_rule}.`, second.id, review.id)
  }).pipe(
    Effect.catch((fault) =>
      Effect.as(
        Effect.logWarning("A tool call was refused, because it could not be evaluated.", fault),
        refused("it could not be evaluated.")
      )
    )
  )
})

const allowed = (name: string, { id }: Evaluation, approvalId: string | null): Verdict => ({
  name,
  isRefused: false,
  evaluationId: id,
  approvalId,
  sentence: null
})

/** The name as a record can hold it. */
const shownName = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, "_")
    .normalize("NFC")
    .slice(0, MAX_NAME) || "_"

/** The arguments as an object; null where they are none. No arguments are an empty object. */
const argsOf = (text: string): { readonly [name: string]: unknown } | null => {
  if (text.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
