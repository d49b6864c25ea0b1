/**
 * The agents that an agent works for, up to the first: a halt of any of them reaches it. Spec: api.md, POST /agents.
 */

/** Most ancestors of an agent. Spec: format 1 section 8, `agent.registered`; decision 0047. */
export const MAX_ANCESTORS = 8

/**
 * The ids of an agent's parent, its parent's parent and so on, nearest first.
 *
 * Ends where there is no parent, after `max` ids, and before an id that would come a second time: a chain that was
 * forged may hold a cycle. Spec: decision 0047.
 */
export const ancestorsOf = (
  agentId: string,
  parentOf: (agentId: string) => string | null | undefined,
  max: number = MAX_ANCESTORS
): ReadonlyArray<string> => {
  const seen = new Set([agentId])
  for (let parent = parentOf(agentId); seen.size <= max && parent !== null && parent !== undefined;) {
    if (seen.has(parent)) break
    seen.add(parent)
    parent = parentOf(parent)
  }
  return [...seen].slice(1)
}

/** Why an agent cannot have this parent. */
export type ParentProblem = "not_of_the_unit" | "too_deep"

/** Facts in a parent's own records. */
interface Known {
  readonly orgUnitDigest?: string | undefined
  readonly parentAgentId?: string | undefined
}

/**
 * Why a new agent cannot have this parent; null where it can. `knownOf` answers for agents that were registered before,
 * so that a parent is never the agent itself or one of its descendants.
 *
 * - Spec: api.md, POST /agents: the same org unit, no cycle, at most {@link MAX_ANCESTORS} ancestors.
 */
export const parentProblem = (
  agent: { readonly id: string; readonly parentId: string; readonly orgUnitDigest: string | undefined },
  knownOf: (agentId: string) => Known | undefined
): ParentProblem | null => {
  const parent = agent.parentId === agent.id ? undefined : knownOf(agent.parentId)
  if (parent === undefined || agent.orgUnitDigest === undefined || parent.orgUnitDigest !== agent.orgUnitDigest)
    return "not_of_the_unit"
  const ancestors = ancestorsOf(
    agent.id,
    (id) => (id === agent.id ? agent.parentId : knownOf(id)?.parentAgentId),
    MAX_ANCESTORS + 1
  )
  return ancestors.length > MAX_ANCESTORS ? "too_deep" : null
}
