/** The kill switch: activate, release, status. Spec: document 1 sections 2 to 6; envelopes.md 3.10; decision 0042. */
import {
  ActivationNotFound,
  type ActivationReleased,
  type AgentNotFound,
  InvalidInput,
  detailItem,
  isId,
  type KillActivateIn,
  type KillActivation,
  type KillChanged,
  type KillReach,
  type KillReleaseIn,
  type KillStatus,
  ModelNotFound,
  OrgUnitNotAllowed,
  type ReleaseNotAllowed
} from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import {
  type AckDocument,
  CHANNEL_TARGET,
  DEPLOYMENT_TARGET,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  type KillTarget,
  MODELS
} from "@flyball/rules"
import { Chain } from "../../chain/chain.ts"
import { Signer } from "../../chain/keys/signer.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { newId } from "../../foundation/ids.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { activationOut } from "./activation-out.ts"
import { killReader, storedActivation, type StoredActivation } from "./kill-reader.ts"
import { type ActivationInput, planActivation } from "./plan-activate.ts"
import { planRelease } from "./plan-release.ts"
import { agentsReachedBy, type Reached, reachedBy } from "./reached-agents.ts"
import { signStatus } from "./sign-status.ts"
import { statusOf } from "./status.ts"

/** Items of a list of whom an activation reaches. The counts beside are complete. */
const MAX_LISTED = 10_000

/** Why a target is not one of the caller's. */
export type TargetRefusal = AgentNotFound | ModelNotFound | OrgUnitNotAllowed

/** The kill switch. What lies outside `scope` is answered as if it were not there. */
export interface KillApi {
  /**
   * Activates a response, and answers whom it reaches. A dry run answers the same and records nothing. A model is used
   * in every org unit, so it takes a scope of all of them.
   */
  readonly activate: (
    input: KillActivateIn,
    writer: Writer,
    scope?: Scope,
    options?: { readonly dryRun?: boolean }
  ) => Effect.Effect<KillChanged, TargetRefusal | ReadFault>
  /** The same for any target: org units by their digest, and the whole deployment. For the host and its rules. */
  readonly activateTarget: (
    input: Omit<ActivationInput, "activationId" | "expectedInstances" | "reach">
  ) => Effect.Effect<KillChanged, ReadFault>
  /** Releases one activation. Others hold on. */
  readonly release: (
    input: KillReleaseIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    KillChanged,
    ActivationNotFound | ActivationReleased | OrgUnitNotAllowed | ReleaseNotAllowed | ReadFault
  >
  /** One activation, and the truth about stopping. A model's takes a scope of every org unit. */
  readonly activation: (id: string, scope?: Scope) => Effect.Effect<KillActivation, ActivationNotFound | ReadFault>
  /** The state of a target now. With a nonce it is signed. */
  readonly status: (
    target: KillTarget,
    scope?: Scope,
    nonce?: string
  ) => Effect.Effect<KillStatus, AgentNotFound | InvalidInput | ModelNotFound | ReadFault>
}

/** The kill switch. */
export class Kill extends Context.Service<Kill, KillApi>()("flyball/core/Kill") {
  static readonly layer: Layer.Layer<Kill, never, Storage | Chain | Signer> = Layer.effect(
    Kill,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const signer = yield* Signer
      const { origin } = yield* Chain
      const reader = killReader(storage)

      /** The activations that reach a target, and the epoch at which they do. */
      const reaching = Effect.fnUntraced(function* (target: KillTarget) {
        const view = yield* reader.view
        if (target.type === "agent" && target.id !== CHANNEL_TARGET) {
          const agent = yield* readAgent(storage, target.id, everyUnit)
          const { activations } = yield* reader.of(agent)
          const ids = new Set(activations.map(({ id }) => id))
          return { view, found: view.live.filter(({ id }) => ids.has(id)) }
        }
        return {
          view,
          found: view.live.filter(
            ({ body }) =>
              (body.targetType === target.type && body.targetId === target.id) ||
              (body.targetType === "deployment" && target.id !== CHANNEL_TARGET)
          )
        }
      })

      const statusNow = (target: KillTarget) =>
        Effect.map(reaching(target), ({ found, view }) => statusOf(target, found, view, origin))

      /** Whether a caller may know of a target. Models belong to no unit. */
      const known = Effect.fnUntraced(function* (
        { id, type }: KillTarget,
        scope: Scope
      ): Effect.fn.Return<void, AgentNotFound | ModelNotFound | ReadFault> {
        if (type === "agent" && (id !== CHANNEL_TARGET || scope.orgUnits !== "*")) yield* readAgent(storage, id, scope)
        if (type === "model" && isId("model", id) && (yield* storage.get(MODELS, id)) === null)
          return yield* new ModelNotFound({ modelId: id })
      })

      /** What an activation changed, after it: the status of its target and whom it reaches. */
      const changed = Effect.fnUntraced(function* (
        target: KillTarget,
        activationId: string | null,
        reached: Reached,
        epoch: number | null
      ) {
        const status = yield* statusNow(target).pipe(Effect.catchTag("AgentNotFound", Effect.die))
        return {
          activation_event: activationId,
          epoch: epoch ?? status.epoch,
          status,
          reach: reachOut(target, reached)
        } satisfies KillChanged
      })

      const activateTarget: KillApi["activateTarget"] = Effect.fnUntraced(function* (input) {
        const activationId = yield* newId("kil")
        const reached = yield* reachedBy(storage, input.target, (yield* storage.asOf).ms)
        const epoch = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const view = yield* reader.view
            const planned = planActivation(
              {
                ...input,
                activationId,
                expectedInstances: reached.instances,
                reach: { highestTier: reached.highestTier, agents: reached.agents.length, expects: [] }
              },
              view,
              yield* storage.asOf
            )
            yield* storage.commit(planned.change)
            return planned.epoch
          }),
          KILL_EPOCH
        )
        return yield* changed(input.target, activationId, reached, epoch)
      })

      const activationOf = Effect.fnUntraced(function* (
        id: string,
        scope: Scope
      ): Effect.fn.Return<StoredActivation, ActivationNotFound | OrgUnitNotAllowed | ReadFault> {
        const document = isId("activation", id) ? yield* storage.get(KILL_ACTIVATIONS, id) : null
        if (document === null) return yield* new ActivationNotFound({ activationId: id })
        const stored = storedActivation(document)
        if (scope.orgUnits === "*") return stored
        if (stored.body.targetType !== "agent") return yield* new OrgUnitNotAllowed()
        yield* readAgent(storage, stored.body.targetId, scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(new ActivationNotFound({ activationId: id })))
        )
        return stored
      })

      return Kill.of({
        activate: Effect.fnUntraced(function* (input, writer, scope = everyUnit, { dryRun = false } = {}) {
          const target: KillTarget = { type: input.target_type, id: input.target_id }
          if (target.type === "model" && scope.orgUnits !== "*") return yield* new OrgUnitNotAllowed()
          if (target.id === CHANNEL_TARGET) yield* readAgent(storage, target.id, scope)
          yield* known(target, scope)
          if (dryRun)
            return yield* changed(target, null, yield* reachedBy(storage, target, (yield* storage.asOf).ms), null)
          return yield* activateTarget({
            target,
            response: input.response,
            reason: input.reason,
            drill: null,
            breakerId: null,
            actor: writer.id,
            requestedBy: null
          })
        }),
        activateTarget,
        release: Effect.fnUntraced(function* ({ activation_event: id, reason }, writer, scope = everyUnit) {
          const { body } = yield* activationOf(id, scope)
          const target: KillTarget = { type: body.targetType, id: body.targetId }
          const epoch = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const stored = yield* activationOf(id, scope)
              const planned = yield* Effect.fromResult(
                planRelease(
                  stored,
                  {
                    reason,
                    writer,
                    person: yield* secondPerson(storage, [stored.body.actor], writer),
                    reach: yield* agentsReachedBy(storage, target)
                  },
                  yield* reader.view,
                  yield* storage.asOf
                )
              )
              yield* storage.commit(planned.change)
              return planned.epoch
            }),
            KILL_EPOCH
          )
          return yield* changed(target, id, yield* reachedBy(storage, target, (yield* storage.asOf).ms), epoch)
        }),
        activation: Effect.fnUntraced(function* (id, scope = everyUnit) {
          const stored = yield* Effect.catchTag(activationOf(id, scope), "OrgUnitNotAllowed", () =>
            Effect.fail(new ActivationNotFound({ activationId: id }))
          )
          const acks = yield* storage.find(KILL_ACKS, "activation", id)
          return activationOut(
            stored,
            acks.map(({ body }) => body as AckDocument)
          )
        }),
        status: Effect.fnUntraced(function* (target, scope = everyUnit, nonce) {
          if (target.type === "org_unit" || (target.type === "deployment" && target.id !== DEPLOYMENT_TARGET))
            if (scope.orgUnits !== "*") return yield* unknownTarget(target)
          yield* known(target, scope)
          const status = yield* statusNow(target)
          return nonce === undefined ? status : yield* signStatus(crypto, signer, status, nonce)
        })
      })
    })
  )
}

const unknownTarget = ({ type }: KillTarget) =>
  new InvalidInput({ detail: [detailItem(["query", "target_type"], "literal_error", "Expected agent or model", type)] })

const reachOut = ({ id, type }: KillTarget, { agents, highestTier, instances }: Reached): KillReach => ({
  agents: agents.slice(0, MAX_LISTED).map((agent) => agent.id),
  agent_count: agents.length,
  instances: instances
    .slice(0, MAX_LISTED)
    .map(({ agentId, instanceId }) => ({ agent_id: agentId, instance_id: instanceId })),
  instance_count: instances.length,
  models: type === "model" ? [id] : [],
  highest_tier: highestTier
})
