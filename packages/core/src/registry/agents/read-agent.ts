/** Reads one agent, as far as a caller sees it. */
import { AgentNotFound, isId } from "@flyball/contract"
import { Effect } from "effect"
import { covers, type Scope } from "../../foundation/scope.ts"
import type { StorageApi } from "../../storage/port.ts"
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
