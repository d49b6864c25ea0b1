import { kindRow } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { agentStatuses, autonomyTiers, suspensionCauses } from "./document.ts"

/** The words that a member of a body takes. */
const wordsOf = (kind: string, member: string): ReadonlyArray<string> => {
  const type = kindRow(kind)?.body.find(({ name }) => name === member)?.type
  assert.strictEqual(type?.type, "enum", `${kind} is expected to have ${member}`)
  return type?.type === "enum" ? type.values : []
}

describe("the words of an agent's document", () => {
  it.each([
    ["agent.registered", "autonomy_tier", autonomyTiers],
    ["agent.updated", "autonomy_tier", autonomyTiers],
    ["evaluation.made", "tier", autonomyTiers],
    ["evaluation.made", "agent_status", agentStatuses],
    ["decision.witnessed", "agent_status", agentStatuses],
    ["agent.suspended", "reason", suspensionCauses]
  ])("are those of %s, %s", (kind, member, words) => {
    assert.sameMembers([...wordsOf(kind, member)], [...words])
  })
})
