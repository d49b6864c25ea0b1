/**
 * Takes ordinary decisions without asking the shape: one pass over their own members. What is unusual or wrong is left
 * to the shape, which has the words for it.
 */
import type { DecisionIn, Usage } from "./decisions.ts"
import { deciders, decisionKinds, decisionModes, decisionStatuses } from "./decisions.ts"
import { MAX_BATCH } from "./limits.ts"
import { parseRfc3339 } from "./rfc3339.ts"

/** What the shape would make of a list of decisions; null where it must be asked. */
export const quickDecisions = (input: unknown): ReadonlyArray<DecisionIn> | null => {
  if (!Array.isArray(input) || input.length < 1 || input.length > MAX_BATCH) return null
  const decisions: Array<DecisionIn> = []
  for (let index = 0; index < input.length; index++) {
    const decision = quickDecision(input[index])
    if (decision === null) return null
    decisions.push(decision)
  }
  return decisions
}

/**
 * What the shape would make of one decision; null where it must be asked. A property test holds the two against each
 * other.
 */
export const quickDecision = (input: unknown): DecisionIn | null => {
  if (!isPlain(input)) return null
  const decision: { -readonly [Member in keyof DecisionIn]: DecisionIn[Member] } = {
    client_ref: "",
    action: "",
    kind: "other",
    status: "unknown"
  }
  // Own names, hidden ones too: the shape sees them, so this must.
  for (const name of Object.getOwnPropertyNames(input)) {
    // Read once: what is checked is what is kept.
    const member = input[name]
    switch (name) {
      case "client_ref":
        if (!isIdentifier(member, 128)) return null
        decision.client_ref = member
        break
      case "action":
        if (!isIdentifier(member, 200)) return null
        decision.action = member
        break
      case "tool_server":
      case "run_id":
      case "evaluation_id":
      case "approval_id":
      case "model":
        if (member !== null && !isIdentifier(member, 200)) return null
        decision[name] = member
        break
      case "step":
      case "latency_ms":
      case "writer_seq":
        if (member !== null && !isCount(member)) return null
        decision[name] = member
        break
      case "kind":
        if (!isWord(member, decisionKinds)) return null
        decision.kind = member
        break
      case "status":
        if (!isWord(member, decisionStatuses)) return null
        decision.status = member
        break
      case "mode":
        if (member !== null && !isWord(member, decisionModes)) return null
        decision.mode = member
        break
      case "decided_by":
        if (member !== null && !isWord(member, deciders)) return null
        decision.decided_by = member
        break
      case "observed_at": {
        const at = member === null ? null : typeof member === "string" ? utcOf(member) : undefined
        if (at === undefined) return null
        decision.observed_at = at
        break
      }
      case "usage": {
        const usage = member === null ? null : usageOf(member)
        if (usage === undefined) return null
        decision.usage = usage
        break
      }
      case "args":
      case "result":
      case "labels":
        decision[name] = member
        break
      default:
        return null
    }
  }
  return decision.client_ref === "" || decision.action === "" ? null : decision
}

const usageOf = (input: unknown): Usage | undefined => {
  if (!isPlain(input)) return undefined
  const usage: { -readonly [Member in keyof Usage]: Usage[Member] } = {}
  for (const name of Object.getOwnPropertyNames(input)) {
    const count = input[name]
    if (name !== "input_tokens" && name !== "output_tokens" && name !== "cost_micro_usd") return undefined
    if (count !== null && !isCount(count)) return undefined
    usage[name] = count
  }
  return usage
}

const isPlain = (value: unknown): value is { readonly [name: string]: unknown } => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** All ASCII, so that units and characters are the same. */
const identifierForm = /^[A-Za-z0-9._:/@+-]+$/
const isIdentifier = (value: unknown, max: number): value is string =>
  typeof value === "string" && value.length <= max && identifierForm.test(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isWord = <Word extends string>(value: unknown, words: ReadonlyArray<Word>): value is Word =>
  words.includes(value as Word)

/** Already UTC with milliseconds; days past the 28th are for the calendar. */
const utcForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const utcOf = (text: string): string | undefined => (utcForm.test(text) ? text : (parseRfc3339(text) ?? undefined))
