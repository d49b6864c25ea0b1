/** Reads one agent, as far as a caller sees it. */
import { AgentNotFound, isId } from "@flyball/contract"
import { Effect } from "effect"
import { covers, type Scope } from "../../foundation/scope.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { AGENTS, storedAgent } from "./document.ts"

/**
 * The agent of this id.
 *
 * - Fails: `AgentNotFound` when there is none in scope.
 */
export const readAgent = Effect.fnUntraced(function* (storage: StorageApi, id: string, scope: Scope) {
  const document = isId("agent", id) ? yield* storage.get(AGENTS, id) : null
  return document !== null && covers(scope, storedAgent(document).body.orgUnit)
    ? storedAgent(document)
    : yield* new AgentNotFound({ agentId: id })
})

/** Reads whether agents are in scope, each once: for lists over records of many agents. Null is an agent of no unit. */
export const agentInScope = (storage: StorageApi, scope: Scope) => {
  const known = new Map<string, boolean>()
  return Effect.fnUntraced(function* (agentId: string | null): Effect.fn.Return<boolean, ReadFault> {
    if (scope.orgUnits === "*") return true
    if (agentId === null) return false
    const before = known.get(agentId)
    if (before !== undefined) return before
    const document = yield* storage.get(AGENTS, agentId)
    const isIn = document !== null && covers(scope, storedAgent(document).body.orgUnit)
    known.set(agentId, isIn)
    return isIn
  })
}
