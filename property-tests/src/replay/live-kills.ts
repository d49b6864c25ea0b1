/** The kill switch in a random life: activations, releases, what instances say, and what keys ask for. */
import { Capture, Kill, ResponsePolicies, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { CONFIRM_MS } from "../../../packages/rules/src/index.ts"
import { confirmStops } from "../../../packages/core/src/verdicts/kill/confirm-stops.ts"
import { recordExpected } from "../../../packages/core/src/verdicts/kill/expected.ts"
import { type Act, ann, ben } from "../evaluations/governed-history.ts"
import { chosen, type Doing, type Lived } from "./lived.ts"

const responses = ["notify", "step_down", "drain", "halt", "quarantine"] as const

/** Activates a response for an agent, or for a model that some of them use. */
export const stop = ({ a, b, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  if (agentId === undefined) return Effect.void
  return Kill.use((kill) =>
    kill.activate(
      {
        ...(c % 4 === 0
          ? { target_type: "model" as const, target_id: "m/1" }
          : { target_type: "agent" as const, target_id: agentId }),
        response: chosen(responses, b)!,
        reason: `because ${c}`
      },
      ann
    )
  ).pipe(Effect.tap(({ activation_event: id }) => Effect.sync(() => void lived.activations.push({ id: id!, agentId }))))
}

/** Releases one, some of them twice, and some by who made it. */
export const letGo = ({ a, b, c }: Act, lived: Lived): Doing => {
  const one = chosen(lived.activations, a)
  if (one === undefined) return Effect.void
  return Kill.use((kill) => kill.release({ activation_event: one.id, reason: `since ${b}` }, c % 3 === 0 ? ann : ben))
}

/** An instance says that it saw one, or stopped: refused of agents that are not reached, or with actions open. */
export const heard = ({ a, b, c }: Act, lived: Lived): Doing => {
  const one = chosen(lived.activations, a)
  if (one === undefined) return Effect.void
  return Kill.use((kill) =>
    kill.ack(
      {
        activation_event: one.id,
        agent_id: one.agentId,
        instance_id: `pod-${b % 3}`,
        stopped: c % 2 === 0,
        in_flight: c % 4 === 0 ? 0 : c
      },
      systemHost
    )
  )
}

/** An instance that acts is stopped, and says nothing until that is recorded. */
export const silent = (act: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, act.a)
  if (agentId === undefined) return Effect.void
  const decision = {
    client_ref: `silent-${act.b}-${act.c}`,
    kind: "tool_call" as const,
    action: "act",
    status: "intended" as const,
    instance_id: `pod-${act.b % 3}`
  }
  return Effect.gen(function* () {
    const { receipts } = yield* Capture.use((capture) => capture.witness(agentId, [decision], systemHost))
    const fresh = receipts.filter(({ duplicate }) => !duplicate)
    lived.witnessed.set(agentId, (lived.witnessed.get(agentId) ?? 0) + fresh.length)
    lived.decisionIds.push(...fresh.map(({ decision_id }) => decision_id))
    yield* stop(act, lived)
    yield* recordExpected
    yield* TestClock.adjust(CONFIRM_MS)
    yield* confirmStops
  })
}

/** Asks that an agent be stopped, by who registered it or by another; where the policy says so, that stops it. */
export const wish = ({ a, b, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  if (agentId === undefined) return Effect.void
  return Effect.gen(function* () {
    if (b % 2 === 0)
      yield* ResponsePolicies.use((policies) =>
        policies.set([{ scope: "default", target: null, trigger: "agent_request", response: "halt", notify: [] }], ben)
      )
    const { activation_event: id } = yield* Kill.use((kill) =>
      kill.request({ agent_id: agentId, reason: `wanted ${c}` }, c % 2 === 0 ? systemHost : ann)
    )
    if (id !== null) lived.activations.push({ id, agentId })
  })
}
