/** Reads `rules`. Spec: `SPEC.md` section 5. */
import { outcomes } from "./compiled.ts"
import type { Rule } from "./envelope.ts"
import { MAX_DURATION_MS, MAX_RULES, MAX_SENTENCE, MAX_VALUE_TEXT } from "./limits.ts"
import { quote, type Reading } from "./reading.ts"
import { readConditions, type Vocabulary } from "./read-conditions.ts"
import { readObligations } from "./read-obligations.ts"

/** The rules in their order; those that could not be read are left out. */
export const readRules = (reading: Reading, value: unknown, words: Vocabulary): ReadonlyArray<Rule> => {
  const seen = new Set<string>()
  return (
    reading.list(value, "/rules", 0, MAX_RULES)?.flatMap((item, i) => {
      const rule = readRule(reading, item, `/rules/${i}`, words, seen)
      return rule === null ? [] : [rule]
    }) ?? []
  )
}

const readRule = (
  reading: Reading,
  value: unknown,
  path: string,
  words: Vocabulary,
  seen: Set<string>
): Rule | null => {
  const members = reading.object(
    value,
    path,
    ["id", "outcome", "when"],
    ["unless", "reason", "obligations", "notice_ms", "retry_after_ms", "suggestion"]
  )
  if (members === null) return null
  const before = reading.findings.length
  const id = readId(reading, members["id"], `${path}/id`, seen)
  const outcome = reading.word(members["outcome"], `${path}/outcome`, outcomes)
  const when = readConditions(reading, members["when"], `${path}/when`, words)
  const unless = "unless" in members ? readConditions(reading, members["unless"], `${path}/unless`, words) : []
  if ("unless" in members && unless?.length === 0)
    reading.say(
      "E113",
      `${path}/unless`,
      "An exception without a condition would always hold. Write a condition, or remove unless."
    )
  const reason = "reason" in members ? reading.text(members["reason"], `${path}/reason`, MAX_SENTENCE) : null
  const obligations =
    "obligations" in members ? readObligations(reading, members["obligations"], `${path}/obligations`) : []
  const noticeMs =
    "notice_ms" in members ? reading.integer(members["notice_ms"], `${path}/notice_ms`, 1, MAX_DURATION_MS) : null
  const retryAfterMs =
    "retry_after_ms" in members
      ? reading.integer(members["retry_after_ms"], `${path}/retry_after_ms`, 1, MAX_DURATION_MS)
      : null
  const suggestion =
    "suggestion" in members ? reading.text(members["suggestion"], `${path}/suggestion`, MAX_SENTENCE) : null
  for (const [member, only] of [
    ["notice_ms", "allow_with_notice"],
    ["retry_after_ms", "deny"],
    ["suggestion", "deny"]
  ] as const) {
    if (member in members && outcome !== null && outcome !== only)
      reading.say("E113", `${path}/${member}`, `Only a rule with outcome ${only} has ${member}. Remove it.`)
  }
  if (
    id === null ||
    outcome === null ||
    when === null ||
    unless === null ||
    obligations === null ||
    reading.findings.length > before
  )
    return null
  return {
    id,
    outcome,
    reason,
    when,
    unless: unless.length === 0 ? [] : [unless],
    obligations,
    noticeMs,
    retryAfterMs,
    suggestion
  }
}

const readId = (reading: Reading, value: unknown, path: string, seen: Set<string>): string | null => {
  const text = reading.text(value, path, MAX_VALUE_TEXT)
  if (text === null) return null
  if (text.startsWith("@"))
    return reading.say("E103", path, `Ids that begin with @ are reserved; this is ${quote(text)}. Choose another.`)
  const id = reading.name(text, path)
  if (id === null) return null
  if (seen.has(id)) return reading.say("E103", path, `Another rule is called ${quote(id)}. Give each its own id.`)
  seen.add(id)
  return id
}
