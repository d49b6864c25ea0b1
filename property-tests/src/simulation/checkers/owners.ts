/**
 * Owners: the clock of an agent with half an owner is started by one record, and by none where rules 2 registered it.
 */
import { Effect } from "effect"
import { type Checker, recordsBy } from "./checked.ts"

/** Counts what the records say. */
export const ownersChecker: Checker = ({ records }) =>
  Effect.sync(() => {
    const problems: Array<string> = []
    const registered = recordsBy(records, "agent.registered", ({ body }) => String(body["agent_id"]))
    for (const [agentId, all] of recordsBy(
      records.filter(({ body }) => body["cause"] === "owner_incomplete"),
      "agent.orphaned",
      ({ body }) => String(body["agent_id"])
    )) {
      if (all.length > 1) problems.push(`owners: the clock of ${agentId} is started ${all.length} times`)
      if (registered.get(agentId)?.[0]?.body["owner_complete"] !== undefined)
        problems.push(`owners: the clock of ${agentId} is started, and its registration says what its owner is`)
    }
    return problems
  })
