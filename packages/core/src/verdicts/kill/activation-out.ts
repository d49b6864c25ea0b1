/** An activation as the interface shows it: how many instances of how many said what, and each by itself. Pure. */
import type { KillActivation } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { type AckDocument, ackId, type ActivationDocument, type KillInstance, killInstanceState } from "@flyball/rules"
import type { StoredActivation } from "./kill-reader.ts"

type InstanceOut = KillActivation["instances"][number]

/** Shows an activation with its instances. One that never answered is never shown as stopped. */
export const activationOut = ({ body, id }: StoredActivation, acks: ReadonlyArray<AckDocument>): KillActivation => {
  const answered = new Map(acks.map((ack) => [ackId(id, ack), ack]))
  const silent = (body.expectedInstances ?? []).filter((one) => !answered.has(ackId(id, one)))
  const instances = [...acks, ...silent]
    .map((one) => instanceOut(body, one, answered.get(ackId(id, one)) ?? null))
    .toSorted((a, b) => order(a.agent_id, b.agent_id) || order(a.instance_id, b.instance_id))
  const count = (state: InstanceOut["state"]) => instances.filter((one) => one.state === state).length
  return {
    id,
    target_type: body.targetType,
    target_id: body.targetId,
    response: body.response,
    drill: body.drill === null ? null : { drill_id: body.drill.drillId, mode: body.drill.mode },
    breaker_id: body.breakerId,
    actor: body.actor,
    requested_by: body.requestedBy,
    reason: body.reason,
    activated_at: formatInstant(body.activatedAtMs),
    epoch: body.epoch,
    highest_tier: body.highestTier,
    unlisted: body.unlisted,
    released_at: instantOf(body.releasedAtMs),
    released_by: body.releasedBy,
    release_epoch: body.releaseEpoch,
    release_reason: body.releaseReason,
    expected: body.expectedInstances === null ? null : instances.length,
    acknowledged: acks.length,
    stopped: count("stopped"),
    unconfirmed: count("unconfirmed"),
    instances
  }
}

const instanceOut = (
  { activatedAtMs, unconfirmedAtMs }: ActivationDocument,
  { agentId, instanceId }: KillInstance,
  ack: AckDocument | null
): InstanceOut => ({
  agent_id: agentId,
  instance_id: instanceId,
  state: killInstanceState({ unconfirmedAtMs }, ack),
  requested_at: formatInstant(activatedAtMs),
  observed_at: instantOf(ack?.observedAtMs),
  acknowledged_at: instantOf(ack?.acknowledgedAtMs),
  in_flight: ack?.inFlight ?? null,
  stopped_at: instantOf(ack?.stoppedAtMs),
  unconfirmed_at: ack === null ? instantOf(unconfirmedAtMs) : null
})

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const instantOf = (atMs: number | null | undefined): string | null =>
  atMs === null || atMs === undefined ? null : formatInstant(atMs)
