/** Plans an activation of the kill switch: by a person, a breaker, a drill or the response policy. Pure. */
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import {
  type ActivationDocument,
  activationKeys,
  type AutonomyTier,
  CHANNEL_TARGET,
  type DrillMode,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  type KillInstance,
  type KillResponse,
  type KillTarget,
  RULES
} from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, DocumentPut, JsonObject, PartDraft } from "../../storage/port.ts"
import { epochKey } from "./epoch-key.ts"
import type { KillView } from "./kill-reader.ts"

/** Input of an activation, with the agents that it reaches. */
export interface ActivationInput {
  /** A new id `kil_…`. */
  readonly activationId: string
  readonly target: KillTarget
  readonly response: KillResponse
  readonly reason: string | null
  readonly drill: { readonly drillId: string; readonly mode: DrillMode } | null
  readonly breakerId: string | null
  /** The writer of the record: a person, `breaker:<name>`, `policy:<trigger>`, or the host. */
  readonly actor: string
  /** The ingest key that requested it; null where none did. */
  readonly requestedBy: string | null
  readonly reach: {
    readonly highestTier: AutonomyTier | null
    readonly agents: number
    readonly expects: NonNullable<ChangeSet["expects"]>
  }
}

/** The change that activates, and what it makes. */
export interface ActivationPlan {
  readonly activationId: string
  readonly epoch: number
  readonly activation: ActivationDocument
  readonly change: ChangeSet
}

/** The document that every change of the kill state puts. Two plans on one epoch conflict. */
export const nextKillEpoch = ({ epoch, version }: Pick<KillView, "epoch" | "version">): DocumentPut => ({
  ...KILL_EPOCH,
  expectedVersion: version,
  body: { epoch: epoch + 1 }
})

/**
 * Decides what an activation would change. Nothing refuses one: several of one target stand beside each other.
 *
 * - Unit: `asOf.ms`, milliseconds since 1970 UTC, is when it holds from.
 * - Spec: envelopes.md 3.10; decision 0047.
 */
export const planActivate = (
  input: ActivationInput,
  state: Pick<KillView, "epoch" | "version">,
  asOf: AsOf
): ActivationPlan => {
  const { activationId: id, actor, breakerId, drill, reach, requestedBy, response, target } = input
  const activation: ActivationDocument = {
    targetType: target.type,
    targetId: target.id,
    response,
    drill,
    breakerId,
    actor,
    requestedBy,
    reason: input.reason,
    activatedAtMs: asOf.ms,
    epoch: state.epoch + 1,
    highestTier: reach.highestTier,
    // Whom it expects is read behind it. The check of the channel reaches nobody.
    expectedInstances: isChannelCheck(target) ? [] : null,
    unlisted: 0,
    unconfirmedAtMs: null,
    releasedAtMs: null,
    releasedBy: null,
    releaseEpoch: null,
    releaseReason: null
  }
  return {
    activationId: id,
    epoch: activation.epoch,
    activation,
    change: {
      expects: reach.expects,
      puts: [
        {
          collection: KILL_ACTIVATIONS,
          id,
          expectedVersion: 0,
          body: activation as unknown as JsonObject,
          keys: activationKeys(activation)
        },
        nextKillEpoch(state)
      ],
      records: [
        {
          kind: "kill.activated",
          agentId: target.type === "agent" && target.id !== CHANNEL_TARGET ? target.id : null,
          body: activatedBody(id, activation),
          parts: reasonPart(input.reason),
          once: epochKey("kill.activated", id, activation.epoch)
        }
      ],
      events: isChannelCheck(target)
        ? []
        : [
            event("kill.activated", {
              activation_id: id,
              target_type: target.type,
              target_id: target.id,
              response,
              drill: drill?.mode ?? null,
              epoch: activation.epoch,
              agents: reach.agents,
              breaker_id: breakerId,
              has_reason: input.reason !== null,
              writer: actor
            })
          ]
    }
  }
}

const activatedBody = (id: string, activation: ActivationDocument): JsonObject =>
  omitNullish({
    activated_at: formatInstant(activation.activatedAtMs),
    activation_id: id,
    breaker_id: activation.breakerId,
    drill: activation.drill === null ? null : { drill_id: activation.drill.drillId, mode: activation.drill.mode },
    epoch: activation.epoch,
    highest_tier: activation.highestTier,
    requested_by: activation.requestedBy,
    response: activation.response,
    rules: RULES,
    target_id: activation.targetId,
    target_type: activation.targetType,
    writer: activation.actor
  }) as JsonObject

/** Targets without webhook events: the channel check runs every hour. */
export const isChannelCheck = ({ id }: KillTarget): boolean => id === CHANNEL_TARGET

/** A part that lists instances; none where there is none. */
export const instancesPart = (name: string, instances: ReadonlyArray<KillInstance>): ReadonlyArray<PartDraft> =>
  instances.length === 0
    ? []
    : [
        {
          name,
          bytes: canonicalBytes(
            instances.map(({ agentId, instanceId }) => ({ agent_id: agentId, instance_id: instanceId }))
          )
        }
      ]

/** The part `reason`; none without a reason. */
export const reasonPart = (reason: string | null): ReadonlyArray<PartDraft> =>
  reason === null ? [] : [{ name: "reason", bytes: canonicalBytes(reason) }]
