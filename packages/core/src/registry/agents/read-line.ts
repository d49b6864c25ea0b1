/** Reads an agent's line of parents. */
import { isId } from "@flyball/contract"
import { MAX_ANCESTORS } from "@flyball/rules"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { AGENTS, type StoredAgent, storedAgent } from "./document.ts"

/**
 * The agent of this id, its parent and so on, as far as they are there, and at most as many as an agent may have
 * ancestors and one more.
 */
export const readLine = Effect.fnUntraced(function* (
  storage: StorageApi,
  id: string
): Effect.fn.Return<ReadonlyArray<StoredAgent>, ReadFault> {
  const line: Array<StoredAgent> = []
  for (let next: string | undefined = id; next !== undefined && line.length <= MAX_ANCESTORS;) {
    const document = isId("agent", next) ? yield* storage.get(AGENTS, next) : null
    if (document === null) break
    const agent = storedAgent(document)
    line.push(agent)
    next = agent.body.parentAgentId
  }
  return line
})
