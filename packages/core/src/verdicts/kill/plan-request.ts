/** Plans the request of an ingest key to stop its agent. Pure. */
import { formatInstant } from "@flyball/evidence"
import { RULES } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, JsonObject } from "../../storage/port.ts"
import { type ActivationPlan, reasonPart } from "./plan-activate.ts"

/**
 * The change that records a request. `activated`: what the response policy makes of it, in the same commit; null: it
 * has no row, or another key registered the agent.
 *
 * - Spec: api.md, POST /bound/kill/request.
 */
export const planRequest = (
  agentId: string,
  reason: string,
  writer: Writer,
  activated: ActivationPlan | null,
  asOf: AsOf
): ChangeSet => ({
  ...activated?.change,
  turn: { class: "act", key: writer.id },
  records: [
    {
      kind: "kill.requested",
      agentId,
      body: omitNullish({
        activation_id: activated?.activationId,
        agent_id: agentId,
        requested_at: formatInstant(asOf.ms),
        rules: RULES,
        writer: writer.id
      }) as JsonObject,
      parts: reasonPart(reason)
    },
    ...(activated?.change.records ?? [])
  ],
  events: [
    event("kill.requested", {
      agent_id: agentId,
      activation_id: activated?.activationId ?? null,
      requested_at: formatInstant(asOf.ms),
      writer: writer.id
    }),
    ...(activated?.change.events ?? [])
  ]
})
