/** Finds what a caller names as the target of a halt or a drill. */
import { AgentNotFound, isId, ModelNotFound, OrgUnitNotAllowed } from "@flyball/contract"
import { CHANNEL_TARGET, type KillTarget, MODELS } from "@flyball/rules"
import { Effect } from "effect"
import type { Scope } from "../../foundation/scope.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** A target that the caller may act on, and the agent where it is one. */
export interface ResolvedTarget {
  readonly target: KillTarget
  readonly agent: StoredAgent | null
}

/**
 * The target of these words: an agent by its id or exact name, a model by any of its names.
 *
 * - Fails: `AgentNotFound` where there is none in scope; `ModelNotFound` for an id `mdl_…` that is not registered;
 *   `OrgUnitNotAllowed` for a model where the scope is some org units: a model is used in every one.
 */
export const resolveTarget = Effect.fnUntraced(function* (
  storage: StorageApi,
  { target_id: named, target_type: type }: { readonly target_id: string; readonly target_type: "agent" | "model" },
  scope: Scope
): Effect.fn.Return<ResolvedTarget, AgentNotFound | ModelNotFound | OrgUnitNotAllowed | ReadFault> {
  if (type === "model") {
    if (scope.orgUnits !== "*") return yield* new OrgUnitNotAllowed({ needs: "*" })
    if (isId("model", named) && (yield* storage.get(MODELS, named)) === null)
      return yield* new ModelNotFound({ modelId: named })
    return { target: { type, id: named }, agent: null }
  }
  const [found] =
    isId("agent", named) || named === CHANNEL_TARGET ? [] : yield* storage.find(AGENTS, "name", named.normalize("NFC"))
  const agent = yield* readAgent(storage, found?.id ?? named, scope).pipe(
    Effect.catchTag("AgentNotFound", () => Effect.fail(new AgentNotFound({ agentId: named })))
  )
  return { target: { type, id: agent.id }, agent }
})
