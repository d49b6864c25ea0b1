/** Plans what an instance says of an activation: that it saw it, and that it stopped. Pure. */
import { ActivationReleased, type KillAckOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { type AckDocument, ackId, ackKeys, KILL_ACKS, type KillInstance } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, JsonObject, RecordDraft } from "../../storage/port.ts"
import type { StoredActivation } from "./kill-reader.ts"

/** Acknowledgement of an instance. */
export interface Acknowledgement {
  readonly instance: KillInstance
  readonly observedAtMs: number | null
  readonly inFlight: number
  readonly stopped: boolean
  readonly writer: Writer
}

/** The acknowledgement to be stored. `change` is null where it holds nothing new. */
export interface AcknowledgePlan {
  readonly ack: AckDocument
  readonly change: ChangeSet | null
}

/**
 * Decides what an acknowledgement would change. The first one counts, and the first that says `stopped`: a repetition
 * changes nothing.
 *
 * - Fails: `ActivationReleased` where it says something new of an activation that holds no more.
 * - Spec: api.md, POST /bound/kill/ack.
 */
export const planAcknowledge = (
  activation: StoredActivation,
  before: { readonly version: number; readonly body: AckDocument } | null,
  { inFlight, instance, observedAtMs, stopped, writer }: Acknowledgement,
  asOf: AsOf
): Result.Result<AcknowledgePlan, ActivationReleased> => {
  const stops = stopped && (before === null || before.body.stoppedAtMs === null)
  if (before !== null && !stops) return Result.succeed({ ack: before.body, change: null })
  if (activation.body.releasedAtMs !== null)
    return Result.fail(new ActivationReleased({ releasedAt: formatInstant(activation.body.releasedAtMs) }))
  const ack: AckDocument = {
    ...(before?.body ?? {
      activationId: activation.id,
      agentId: instance.agentId,
      instanceId: instance.instanceId,
      observedAtMs,
      acknowledgedAtMs: asOf.ms,
      inFlight
    }),
    stoppedAtMs: stops ? asOf.ms : null
  }
  const ids = { activation_id: activation.id, agent_id: instance.agentId, instance_id: instance.instanceId }
  const acknowledged: RecordDraft = {
    kind: "kill.acknowledged",
    agentId: instance.agentId,
    body: omitNullish({
      acknowledged_at: formatInstant(ack.acknowledgedAtMs),
      ...ids,
      in_flight: inFlight,
      observed_at: observedAtMs === null ? null : formatInstant(observedAtMs),
      writer: writer.id
    }) as JsonObject,
    parts: []
  }
  const stoppedRecord: RecordDraft = {
    kind: "kill.stopped",
    agentId: instance.agentId,
    body: { ...ids, stopped_at: formatInstant(asOf.ms), writer: writer.id },
    parts: []
  }
  return Result.succeed({
    ack,
    change: {
      turn: { class: "act", key: writer.id },
      // A release at the same moment comes before or after, and never between.
      expects: [{ collection: "kill_activations", id: activation.id, version: activation.version }],
      puts: [
        {
          collection: KILL_ACKS,
          id: ackId(activation.id, instance),
          expectedVersion: before?.version ?? 0,
          body: ack,
          keys: ackKeys(ack)
        }
      ],
      records: [...(before === null ? [acknowledged] : []), ...(stops ? [stoppedRecord] : [])],
      events: [
        event("kill.acknowledged", {
          activation_id: activation.id,
          agent_id: instance.agentId,
          instance_id: instance.instanceId,
          in_flight: ack.inFlight,
          stopped: ack.stoppedAtMs !== null,
          writer: writer.id
        })
      ]
    }
  })
}

/** Shows the stored acknowledgement of an instance. */
export const ackOut = (ack: AckDocument, duplicate: boolean): KillAckOut => ({
  activation_event: ack.activationId,
  agent_id: ack.agentId,
  instance_id: ack.instanceId,
  observed_at: ack.observedAtMs === null ? null : formatInstant(ack.observedAtMs),
  acknowledged_at: formatInstant(ack.acknowledgedAtMs),
  in_flight: ack.inFlight,
  stopped_at: ack.stoppedAtMs === null ? null : formatInstant(ack.stoppedAtMs),
  duplicate
})
