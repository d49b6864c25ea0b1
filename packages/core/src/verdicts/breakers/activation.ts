/** Plans the activation of the kill switch by a breaker in mode `enforce` that trips. */
import { DEPLOYMENT_TARGET, type KillTarget, metricOf, responseFor } from "@flyball/rules"
import { Effect } from "effect"
import { newId } from "../../foundation/ids.ts"
import type { StorageApi } from "../../storage/port.ts"
import { killReader } from "../kill/kill-reader.ts"
import { planActivate } from "../kill/plan-activate.ts"
import { reachedBy } from "../kill/reached-agents.ts"
import { policyToActBy } from "../response-policy/service.ts"
import { writerOfBreaker } from "./plan-trip.ts"
import type { PlanActivated } from "./trip.ts"

/**
 * Plans activations over a store. The response is the breaker's own, else that of the response policy for the trigger
 * `breaker`, else `halt`. A chain that is not in order halts the whole deployment, whatever is set.
 *
 * Spec: document 1 section 3, kill state; decision 0044.
 */
export const breakerActivation = (storage: StorageApi): PlanActivated => {
  const reader = killReader(storage)
  return Effect.fnUntraced(function* (agent, breakerId, breaker, asOf) {
    const isChain = metricOf(breaker.metric)?.stopsDeployment === true
    const target: KillTarget = isChain ? { type: "deployment", id: DEPLOYMENT_TARGET } : { type: "agent", id: agent.id }
    const { autonomyTier: tier, orgUnit } = agent.body
    const { expects, policy } = yield* policyToActBy(storage)
    const row = responseFor(policy, { id: agent.id, tier, orgUnit }, "breaker")
    const response = isChain ? "halt" : (breaker.response ?? row?.response ?? "halt")
    // Read before whom it reaches: an agent that joins meanwhile changes no epoch, and obeys it all the same.
    const view = yield* reader.view
    const reached = yield* reachedBy(storage, target)
    const { activationId, change } = planActivate(
      {
        activationId: yield* newId("kil"),
        target,
        response,
        reason: null,
        drill: null,
        breakerId,
        actor: writerOfBreaker(breaker),
        requestedBy: null,
        // What trips the breaker expects the agent as well.
        reach: { highestTier: reached.highestTier, agents: reached.agents.length, expects }
      },
      view,
      asOf
    )
    return { activationId, response, change }
  })
}
