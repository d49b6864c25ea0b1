/** Plans the release of one activation. Others of its target hold on. Pure. */
import { ActivationReleased, ReleaseNotAllowed } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import {
  type ActivationDocument,
  activationKeys,
  type AutonomyTier,
  CHANNEL_TARGET,
  KILL_ACTIVATIONS,
  needsSecondPerson,
  releaseProblem
} from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, JsonObject } from "../../storage/port.ts"
import { epochKey } from "./epoch-key.ts"
import type { KillView, StoredActivation } from "./kill-reader.ts"
import { liftedNote } from "./lifted.ts"
import { isChannelCheck, nextKillEpoch, reasonPart } from "./plan-activate.ts"

/** The writer of a release, and the facts about them. */
export interface ReleaseCommand {
  readonly reason: string | null
  readonly writer: Writer
  /** The writer's relation to the activator. */
  readonly person: SecondPerson
  /** The agents that it reaches now, their highest tier, and what that was read from. */
  readonly reach: {
    readonly agents: ReadonlyArray<{ readonly id: string }>
    readonly highestTier: AutonomyTier | null
    readonly expects: NonNullable<ChangeSet["expects"]>
  }
}

/** The change that releases. */
export interface ReleasePlan {
  readonly epoch: number
  readonly activation: ActivationDocument
  readonly change: ChangeSet
}

/**
 * Decides what a release would change.
 *
 * - Fails: `ActivationReleased` where it holds no more; `ReleaseNotAllowed` where a rule releases a halt, or the person
 *   who made a real halt that reaches an agent at L3 or above, or may have.
 * - Spec: envelopes.md 3.10; decision 0047.
 */
export const planRelease = (
  { body, id, version }: StoredActivation,
  { person, reach, reason, writer }: ReleaseCommand,
  state: Pick<KillView, "epoch" | "version">,
  asOf: AsOf
): Result.Result<ReleasePlan, ActivationReleased | ReleaseNotAllowed> => {
  if (body.releasedAtMs !== null)
    return Result.fail(new ActivationReleased({ releasedAt: formatInstant(body.releasedAtMs) }))
  const problem = releaseProblem(body, reach.highestTier, writer.id)
  if (problem === "automatic")
    return Result.fail(new ReleaseNotAllowed({ sentence: "Only a person can release a halt: rules and keys cannot." }))
  if (problem !== null || (person !== "another" && needsSecondPerson(body, reach.highestTier)))
    return Result.fail(
      person === "perhaps_them" && problem === null
        ? new ReleaseNotAllowed({ sentence: `${new ReleaseNotAllowed({}).message} ${ERASED_AUTHOR}` })
        : new ReleaseNotAllowed({})
    )
  const activation: ActivationDocument = {
    ...body,
    releasedAtMs: asOf.ms,
    releasedBy: writer.id,
    releaseEpoch: state.epoch + 1,
    releaseReason: reason
  }
  const target = { type: body.targetType, id: body.targetId }
  const note = liftedNote(id, activation, reach.agents)
  return Result.succeed({
    epoch: state.epoch + 1,
    activation,
    change: {
      expects: reach.expects,
      puts: [
        {
          collection: KILL_ACTIVATIONS,
          id,
          expectedVersion: version,
          body: activation as unknown as JsonObject,
          keys: activationKeys(activation)
        },
        nextKillEpoch(state),
        ...(note === null ? [] : [note])
      ],
      records: [
        {
          kind: "kill.released",
          agentId: target.type === "agent" && target.id !== CHANNEL_TARGET ? target.id : null,
          body: omitNullish({
            activation_id: id,
            epoch: state.epoch + 1,
            highest_tier: reach.highestTier,
            released_at: formatInstant(asOf.ms),
            writer: writer.id
          }) as JsonObject,
          parts: reasonPart(reason),
          once: epochKey("kill.released", id, state.epoch + 1)
        }
      ],
      events: isChannelCheck(target)
        ? []
        : [
            event("kill.released", {
              activation_id: id,
              target_type: target.type,
              target_id: target.id,
              response: body.response,
              drill: body.drill?.mode ?? null,
              epoch: state.epoch + 1,
              has_reason: reason !== null,
              writer: writer.id
            })
          ]
    }
  })
}
