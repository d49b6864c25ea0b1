/** Acknowledgements and whole drills, for tests. */
import { Effect } from "effect"
import { Kill } from "../../kill/service.ts"
import { Drills } from "../service.ts"

/** An instance acknowledges an activation now. */
export const acknowledged = (activationId: string, agentId: string, instanceId: string) =>
  Kill.use((kill) =>
    kill.ack(
      { activation_event: activationId, agent_id: agentId, instance_id: instanceId, stopped: false },
      { id: "system:agent" }
    )
  )

/** A drill of an agent that one instance acknowledged, completed, and attested by somebody other than its starter. */
export const drilled = (agentId: string) =>
  Effect.gen(function* () {
    const drills = yield* Drills
    const { activation_event, id } = yield* drills.start(
      { target_type: "agent", target_id: agentId, mode: "shadow", scenario: "It pays twice.", slo_ms: 5_000 },
      { id: "system:starter" }
    )
    yield* acknowledged(activation_event, agentId, "one")
    yield* drills.complete(id, { id: "system:starter" })
    return yield* drills.attest(id, { id: "system:attester" })
  })
