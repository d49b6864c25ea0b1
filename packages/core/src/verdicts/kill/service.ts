/** The kill switch: activate, release, status. Spec: document 1 sections 2 to 6; envelopes.md 3.10; decision 0047. */
import {
  ActivationNotFound,
  type ActivationReleased,
  type AgentNotFound,
  InvalidInput,
  detailItem,
  isId,
  type KillAckIn,
  type KillAckOut,
  type KillActivateIn,
  type KillActivation,
  type KillChanged,
  type KillEvent,
  type KillEventsQuery,
  type KillReach,
  type KillReleaseIn,
  type KillRequestIn,
  type KillRequestOut,
  killResponses,
  type KillStatus,
  ModelNotFound,
  OrgUnitNotAllowed,
  type ReleaseNotAllowed
} from "@flyball/contract"
import { formatInstant, parseInstant, readRecord } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import {
  type AckDocument,
  type ActivationDocument,
  byPrecedence,
  ackId,
  CHANNEL_TARGET,
  DEPLOYMENT_TARGET,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  type KillInstance,
  type KillResponse,
  isSameModel,
  type KillTarget,
  MODELS,
  noModels,
  responseFor,
  severityOfResponse
} from "@flyball/rules"
import { Chain } from "../../chain/chain.ts"
import { Signer } from "../../chain/keys/signer.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { recordHash, newId } from "../../foundation/ids.ts"
import { counter, counterBy } from "../../foundation/metrics.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import type { CommitFeed } from "../../storage/commit-feed.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ChangeSet, type ReadFault, Storage } from "../../storage/port.ts"
import { activationOut } from "./activation-out.ts"
import { type CertifiedSpan, certifiedSpan, type CertifiedStop, certifyStop } from "./certify.ts"
import { killReader, type KillView, storedActivation, type StoredActivation, targetsOf } from "./kill-reader.ts"
import { modelsReader } from "./registered-models.ts"
import { policyToActBy } from "../response-policy/service.ts"
import { listKillEvents } from "./kill-events.ts"
import { ackOut, planAcknowledge } from "./plan-acknowledge.ts"
import { planRequest } from "./plan-request.ts"
import { type ActivationInput, planActivate } from "./plan-activate.ts"
import { planRelease } from "./plan-release.ts"
import { type Reached, reachedBy } from "./reached-agents.ts"
import { resolveTarget } from "./resolve-target.ts"
import { seenInstances } from "./seen-instances.ts"
import { signStatus } from "./sign-status.ts"
import { epochWatch } from "./epoch-watch.ts"
import { statusOf, tagOf } from "./status.ts"

/** The actor of what the response policy makes of a request. */
const AGENT_REQUEST = "policy:agent_request"

/** Items of a list of whom an activation reaches. The counts beside are complete. */
const MAX_LISTED = 10_000

const activationsBy = counterBy(
  "flyball_kill_activations_total",
  "Activations of the kill switch by response, drills included.",
  "response",
  killResponses
)
const releases = counter("flyball_kill_releases_total", "Released activations of the kill switch.")
const acks = counter(
  "flyball_kill_acknowledgements_total",
  "Acknowledgements of activations by instances, repetitions excluded."
)

/** Why a target is not one of the caller's. */
export type TargetRefusal = AgentNotFound | ModelNotFound | OrgUnitNotAllowed

/** The activation by a rule, and what its commit expects besides the epoch. Spec: decision 0061. */
export type PlannedResponse = Omit<ActivationInput, "activationId" | "reach" | "target"> & {
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** A kill status with its entity tag. Spec: document 1 section 4, GET /bound/kill/status; decision 0047. */
export interface TaggedStatus {
  readonly status: KillStatus
  readonly tag: string
}

/**
 * Operations of the kill switch. Objects outside `scope` are answered as not found. Spec: document 1 sections 3 and 4,
 * `/bound/kill`; decision 0047.
 */
export interface KillApi {
  /**
   * Activates a response, and answers whom it reaches. Without one the row of the response policy for `manual` counts,
   * else `halt`. The same again by the same writer within 10 s answers the first. A dry run records nothing, and reads
   * the instances at once. A model is used in every org unit, so it takes a scope of all of them.
   */
  readonly activate: (
    input: KillActivateIn,
    writer: Writer,
    scope?: Scope,
    options?: { readonly dryRun?: boolean }
  ) => Effect.Effect<KillChanged, TargetRefusal | ReadFault>
  /**
   * The same for any target: org units by their digest, and the whole deployment. For the host and its rules. A drill
   * is that of the channel: others begin with `Drills.start`, whose record replay expects.
   */
  readonly activateTarget: (
    input: Omit<ActivationInput, "activationId" | "reach">,
    options?: { readonly dryRun?: boolean }
  ) => Effect.Effect<KillChanged, ReadFault>
  /**
   * Activates what a plan comes to, and answers the activation; null where it comes to nothing. The plan is made again
   * where the commit meets a conflict. For the rules of the host.
   */
  readonly activatePlanned: (
    target: KillTarget,
    plan: (view: KillView) => Effect.Effect<PlannedResponse | null, ReadFault>
  ) => Effect.Effect<string | null, ReadFault>
  /** Releases one activation. Others hold on. */
  readonly release: (
    input: KillReleaseIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    KillChanged,
    ActivationNotFound | ActivationReleased | OrgUnitNotAllowed | ReleaseNotAllowed | ReadFault
  >
  /** One activation, with the acknowledgements of its instances. A model's takes a scope of every org unit. */
  readonly activation: (id: string, scope?: Scope) => Effect.Effect<KillActivation, ActivationNotFound | ReadFault>
  /**
   * The stop certificate of an activation from the first `size` records of the chain; null where its own record is
   * not among them.
   */
  readonly certify: (
    id: string,
    size: number,
    scope?: Scope
  ) => Effect.Effect<CertifiedStop | null, ActivationNotFound | ReadFault>
  /** The records that `certify` reads. */
  readonly certifiedSpan: (
    id: string,
    size: number,
    scope?: Scope
  ) => Effect.Effect<CertifiedSpan | null, ActivationNotFound | ReadFault>
  /** Every activation that reaches a target, the one that its status names first. For the host. */
  readonly holding: (
    target: KillTarget
  ) => Effect.Effect<ReadonlyArray<KillActivation>, AgentNotFound | ModelNotFound | ReadFault>
  /**
   * Says that an instance saw an activation, and that it stopped. The first of each counts; a repetition records
   * nothing.
   */
  readonly ack: (
    input: KillAckIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<KillAckOut, ActivationNotFound | ActivationReleased | InvalidInput | ReadFault>
  /**
   * Asks that an agent be stopped. It is where the response policy has a row for the trigger `agent_request` and the
   * writer is the key that registered the agent; otherwise operators are notified. While what it requested before
   * holds, a request answers that and activates nothing more.
   */
  readonly request: (
    input: KillRequestIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<KillRequestOut, AgentNotFound | ReadFault>
  /**
   * The log of the kill switch, newest first. A page reads a bounded number of records and may be shorter. An empty one
   * is the end: where more may follow, `InvalidInput` names the position to continue from (`ctx.before`).
   */
  readonly events: (
    query: KillEventsQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<KillEvent>, InvalidInput | ReadFault>
  /** The state of a target now. With a nonce it is signed. */
  readonly status: (
    target: KillTarget,
    scope?: Scope,
    nonce?: string
  ) => Effect.Effect<KillStatus, AgentNotFound | InvalidInput | ModelNotFound | ReadFault>
  /**
   * The state of a target as soon as it has another tag than `known` (see `tagOf`), whichever process changes it; null
   * where it has not within `waitMs`. At once where `known` is null.
   */
  readonly statusAfter: (
    target: KillTarget,
    known: string | null,
    waitMs: number,
    scope?: Scope
  ) => Effect.Effect<TaggedStatus | null, AgentNotFound | InvalidInput | ModelNotFound | ReadFault>
  /** The activation that quarantines an agent; null where none does. */
  readonly quarantineOf: (agentId: string, scope?: Scope) => Effect.Effect<string | null, ReadFault>
}

/** Service of the kill switch. Spec: document 1 sections 3 and 4, `/bound/kill`; decision 0047. */
export class Kill extends Context.Service<Kill, KillApi>()("flyball/core/Kill") {
  static readonly layer: Layer.Layer<Kill, never, Storage | Chain | Signer | CommitFeed> = Layer.effect(
    Kill,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const signer = yield* Signer
      const { origin } = yield* Chain
      const reader = killReader(storage)
      const models = modelsReader(storage)
      const nextChange = yield* epochWatch(storage)

      /** The activations that reach a target, and the epoch at which they do. */
      const reaching = Effect.fnUntraced(function* (target: KillTarget) {
        const view = yield* reader.view
        if (target.type === "agent" && target.id !== CHANNEL_TARGET) {
          const agent = yield* readAgent(storage, target.id, everyUnit)
          const { activations } = yield* reader.ofView(view, agent)
          const ids = new Set(activations.map(({ id }) => id))
          return { view, found: view.live.filter(({ id }) => ids.has(id)) }
        }
        const registered = target.type === "model" ? yield* models([target.id, ...targetsOf(view.live)]) : noModels
        const isSame = (id: string): boolean =>
          target.type === "model" ? isSameModel(id, target.id, registered) : id === target.id
        return {
          view,
          found: view.live.filter(
            ({ body }) =>
              (body.targetType === target.type && isSame(body.targetId)) ||
              (body.targetType === "deployment" && target.id !== CHANNEL_TARGET)
          )
        }
      })

      /** The reason is read from the store each time: erasing it changes no epoch, and the view is kept. */
      const statusNow = Effect.fnUntraced(function* (target: KillTarget) {
        const { found, view } = yield* reaching(target)
        const status = statusOf(target, found, view, origin)
        if (status.activation_event === null) return status
        const named = yield* storage.get(KILL_ACTIVATIONS, status.activation_event)
        return { ...status, reason: named === null ? null : storedActivation(named).body.reason }
      })

      /** Checks that a caller may know of a target. Models belong to no unit. */
      const known = Effect.fnUntraced(function* (
        { id, type }: KillTarget,
        scope: Scope
      ): Effect.fn.Return<void, AgentNotFound | ModelNotFound | ReadFault> {
        if (type === "agent" && (id !== CHANNEL_TARGET || scope.orgUnits !== "*")) yield* readAgent(storage, id, scope)
        if (type === "model" && isId("model", id) && (yield* storage.get(MODELS, id)) === null)
          return yield* new ModelNotFound({ modelId: id })
      })

      /** Shows the result of an activation: the status of its target and the agents that it reaches. */
      const changed = Effect.fnUntraced(function* (
        target: KillTarget,
        activationId: string | null,
        reached: Reached,
        epoch: number | null,
        instances: ReadonlyArray<KillInstance> | null
      ) {
        const status = yield* statusNow(target).pipe(Effect.catchTag("AgentNotFound", Effect.die))
        return {
          activation_event: activationId,
          epoch: epoch ?? status.epoch,
          status,
          reach: reachOut(target, reached, instances),
          warnings: reached.agents.length === 0 ? ["reaches_nobody"] : []
        } satisfies KillChanged
      })

      /** Commits the activation that a plan comes to; null where it comes to nothing. */
      const commitActivation = Effect.fnUntraced(function* (
        target: KillTarget,
        plan: Parameters<KillApi["activatePlanned"]>[1]
      ) {
        const activationId = yield* newId("kil")
        const made = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const view = yield* reader.view
            const found = yield* plan(view)
            if (found === null) return null
            const reached = yield* reachedBy(storage, target)
            const { expects, ...input } = found
            const { change, epoch } = planActivate(
              {
                ...input,
                target,
                activationId,
                reach: { highestTier: reached.highestTier, agents: reached.agents.length, expects }
              },
              view,
              yield* storage.asOf
            )
            yield* storage.commit(change)
            return { activationId, epoch, reached, response: input.response }
          }),
          KILL_EPOCH
        )
        if (made !== null) yield* activationsBy[made.response].one
        return made
      })

      const activateTarget: KillApi["activateTarget"] = Effect.fnUntraced(function* (
        { target, ...input },
        { dryRun = false } = {}
      ) {
        if (dryRun) return yield* wouldReach(target)
        const made = yield* commitActivation(target, () => Effect.succeed({ ...input, expects: [] }))
        return yield* changed(target, made!.activationId, made!.reached, made!.epoch, null)
      })

      /** The answer to a dry run: nothing waits for it, so that it reads the instances as well. */
      const wouldReach = Effect.fnUntraced(function* (target: KillTarget) {
        const reached = yield* reachedBy(storage, target)
        const { ms, seq } = yield* storage.asOf
        const ids = new Set(reached.agents.map(({ id }) => id))
        const { instances } = yield* seenInstances(storage, ids, { beforeMs: ms, toSeq: seq })
        return yield* changed(target, null, reached, null, instances)
      })

      /** The response of a person who names none. A model, which is no agent, has the rows of scope `default`. */
      const manualResponse = Effect.fnUntraced(function* (agent: StoredAgent | null) {
        const { expects, policy } = yield* policyToActBy(storage)
        const row =
          agent === null
            ? policy.rows.find(({ scope, trigger }) => scope === "default" && trigger === "manual")
            : responseFor(
                policy,
                { id: agent.id, orgUnit: agent.body.orgUnit, tier: agent.body.autonomyTier },
                "manual"
              )
        return { response: row?.response ?? "halt", expects }
      })

      /** The key that registered an agent; null where no record of this chain says. */
      const registrarOf = Effect.fnUntraced(function* (agentId: string): Effect.fn.Return<string | null, ReadFault> {
        const [record] = yield* storage.records({ agentId, kinds: ["agent.registered"], limit: 1 })
        const read = record === undefined ? null : readRecord(record.bytes)
        return read !== null && read.ok ? String(read.record.body["writer"]) : null
      })

      const activationOf = Effect.fnUntraced(function* (
        id: string,
        scope: Scope
      ): Effect.fn.Return<StoredActivation, ActivationNotFound | OrgUnitNotAllowed | ReadFault> {
        const document = isId("activation", id) ? yield* storage.get(KILL_ACTIVATIONS, id) : null
        if (document === null) return yield* new ActivationNotFound({ activationId: id })
        const stored = storedActivation(document)
        if (scope.orgUnits === "*") return stored
        if (stored.body.targetType !== "agent") return yield* new OrgUnitNotAllowed({ needs: "*" })
        yield* readAgent(storage, stored.body.targetId, scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(new ActivationNotFound({ activationId: id })))
        )
        return stored
      })

      /** An activation that the caller may read. */
      const readable = (id: string, scope: Scope) =>
        Effect.catchTag(activationOf(id, scope), "OrgUnitNotAllowed", () =>
          Effect.fail(new ActivationNotFound({ activationId: id }))
        )

      /** An activation with what instances said of it. */
      const shown = (stored: StoredActivation) =>
        Effect.map(storage.find(KILL_ACKS, "activation", stored.id), (acks) =>
          activationOut(
            stored,
            acks.map(({ body }) => body as AckDocument)
          )
        )

      const status: KillApi["status"] = Effect.fnUntraced(function* (target, scope = everyUnit, nonce) {
        if (target.type === "org_unit" || (target.type === "deployment" && target.id !== DEPLOYMENT_TARGET))
          if (scope.orgUnits !== "*") return yield* unknownTarget(target)
        yield* known(target, scope)
        const now = yield* statusNow(target)
        return nonce === undefined ? now : yield* signStatus(crypto, signer, now, nonce)
      })

      const statusAfter: KillApi["statusAfter"] = (target, tag, waitMs, scope = everyUnit) => {
        const whenOther: ReturnType<KillApi["statusAfter"]> = Effect.gen(function* () {
          for (;;) {
            // Before the status, so that a change behind it is not missed.
            let seen = yield* reader.view
            const now = yield* status(target, scope)
            const found = tagOf(now)
            if (found !== tag) return { status: now, tag: found }
            if (waitMs === 0) return null
            for (let isOther = true; isOther;) {
              yield* nextChange(seen.version)
              const view = yield* reader.view
              isOther = !(yield* reader.mayConcern(target, seen, view))
              seen = view
            }
          }
        })
        return waitMs === 0
          ? whenOther
          : Effect.raceFirst(whenOther, Effect.as(Effect.sleep(waitMs), null)).pipe(
              // What changed an agent alone, such as its models, changes no epoch: the last check sees it.
              Effect.flatMap((found) => (found === null ? statusAfter(target, tag, 0, scope) : Effect.succeed(found)))
            )
      }

      return Kill.of({
        activate: Effect.fnUntraced(function* (input, writer, scope = everyUnit, { dryRun = false } = {}) {
          const { agent, target } = yield* resolveTarget(storage, input, scope)
          if (dryRun) return yield* wouldReach(target)
          const same = { reason: input.reason, drill: null, breakerId: null, actor: writer.id, requestedBy: null }
          let first: StoredActivation | null = null
          const made = yield* commitActivation(target, (view) =>
            Effect.gen(function* () {
              const { expects, response } =
                input.response == null ? yield* manualResponse(agent) : { response: input.response, expects: [] }
              first = repeated(view, target, { ...same, response }, (yield* storage.asOf).ms)
              return first === null ? { ...same, response, expects } : null
            })
          )
          if (made !== null) return yield* changed(target, made.activationId, made.reached, made.epoch, null)
          const { body, id } = first! as StoredActivation
          return yield* changed(target, id, yield* reachedBy(storage, target), body.epoch, body.expectedInstances)
        }),
        activateTarget,
        activatePlanned: (target, plan) =>
          Effect.map(commitActivation(target, plan), (made) => made?.activationId ?? null),
        release: Effect.fnUntraced(function* ({ activation_event: id, reason }, writer, scope = everyUnit) {
          const { body } = yield* activationOf(id, scope)
          const target: KillTarget = { type: body.targetType, id: body.targetId }
          const { epoch, instances, reach } = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const stored = yield* activationOf(id, scope)
              const reach = yield* reachedBy(storage, target)
              const planned = yield* Effect.fromResult(
                planRelease(
                  stored,
                  {
                    reason,
                    writer,
                    person: yield* secondPerson(storage, [stored.body.actor], writer),
                    reach
                  },
                  yield* reader.view,
                  yield* storage.asOf
                )
              )
              yield* storage.commit(planned.change)
              return { epoch: planned.epoch, reach, instances: stored.body.expectedInstances }
            }),
            KILL_EPOCH
          )
          yield* releases.one
          return yield* changed(target, id, reach, epoch, instances)
        }),
        ack: Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
          const id = input.activation_event
          if (input.stopped && (input.in_flight ?? 0) > 0)
            return yield* new InvalidInput({
              detail: [
                detailItem(
                  ["body", "in_flight"],
                  "value_error",
                  "An instance that stopped has no actions under way",
                  String(input.in_flight)
                )
              ]
            })
          const acked = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const document = isId("activation", id) ? yield* storage.get(KILL_ACTIVATIONS, id) : null
              if (document === null) return yield* new ActivationNotFound({ activationId: id })
              const read = storedActivation(document)
              const { targetId, targetType } = read.body
              const agentId = input.agent_id ?? (targetType === "agent" ? targetId : null)
              if (agentId === null)
                return yield* invalidAgent("missing", `An activation of a ${targetType} needs the agent`)
              const agent = yield* readAgent(storage, agentId, scope).pipe(
                Effect.catchTag("AgentNotFound", () => Effect.fail(new ActivationNotFound({ activationId: id })))
              )
              const instance = { agentId, instanceId: input.instance_id }
              const before = yield* storage.get(KILL_ACKS, ackId(id, instance))
              const isReached = (yield* reader.of(agent)).activations.some((one) => one.id === id)
              // A release between the two reads reaches nobody either, and is the answer to the caller.
              const activation = isReached
                ? read
                : storedActivation((yield* storage.get(KILL_ACTIVATIONS, id)) ?? document)
              if (activation.body.releasedAtMs === null && !isReached)
                return yield* invalidAgent("value_error", "The activation does not reach this agent", agentId)
              const { ack, change } = yield* Effect.fromResult(
                planAcknowledge(
                  activation,
                  before === null ? null : { version: before.version, body: before.body as AckDocument },
                  {
                    instance,
                    observedAtMs: typeof input.observed_at === "string" ? parseInstant(input.observed_at) : null,
                    inFlight: input.in_flight ?? 0,
                    stopped: input.stopped,
                    writer
                  },
                  yield* storage.asOf
                )
              )
              if (change !== null) yield* storage.commit(change)
              return ackOut(ack, change === null)
            })
          )
          if (!acked.duplicate) yield* acks.one
          return acked
        }),
        request: Effect.fnUntraced(function* ({ agent_id: agentId, reason }, writer, scope = everyUnit) {
          yield* readAgent(storage, agentId, scope)
          const registrar = yield* registrarOf(agentId)
          const reached = yield* reachedBy(storage, { type: "agent", id: agentId })
          const id = yield* newId("kil")
          return yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const asOf = yield* storage.asOf
              const agent = yield* readAgent(storage, agentId, scope)
              const inForce = yield* policyToActBy(storage)
              const row =
                registrar === writer.id
                  ? responseFor(
                      inForce.policy,
                      { id: agentId, orgUnit: agent.body.orgUnit, tier: agent.body.autonomyTier },
                      "agent_request"
                    )
                  : null
              const expects = [...inForce.expects, { collection: AGENTS, id: agentId, version: agent.version }]
              const view = yield* reader.view
              // A key that repeats itself piles nothing up that people must release one by one.
              const held = row === null ? null : heldBy(view, agentId, writer, row.response)
              const planned =
                row === null || held !== null
                  ? null
                  : planActivate(
                      {
                        activationId: id,
                        target: { type: "agent", id: agentId },
                        response: row.response,
                        reason,
                        drill: null,
                        breakerId: null,
                        actor: AGENT_REQUEST,
                        requestedBy: writer.id,
                        reach: { highestTier: reached.highestTier, agents: reached.agents.length, expects }
                      },
                      view,
                      asOf
                    )
              const change = planRequest(agentId, reason, writer, planned, asOf)
              const {
                records: [receipt]
              } = yield* storage.commit(
                // What answers the request, or does not, is so at the commit too.
                planned !== null
                  ? change
                  : {
                      ...change,
                      expects: [...expects, ...(held === null ? [] : [{ ...KILL_EPOCH, version: view.version }])]
                    }
              )
              if (planned !== null) yield* activationsBy[planned.activation.response].one
              return {
                agent_id: agentId,
                activation_event: planned?.activationId ?? held,
                requested_at: formatInstant(asOf.ms),
                seq: receipt!.seq,
                record_hash: recordHash(receipt!.hash)
              }
            }),
            KILL_EPOCH
          )
        }),
        events: (query, scope = everyUnit) => listKillEvents(storage, query, scope),
        activation: (id, scope = everyUnit) => Effect.flatMap(readable(id, scope), shown),
        certify: Effect.fnUntraced(function* (id, size, scope = everyUnit) {
          const stored = yield* readable(id, scope)
          const span = yield* certifiedSpan(storage, stored, size)
          return span === null ? null : yield* certifyStop(storage, stored, span)
        }),
        certifiedSpan: (id, size, scope = everyUnit) =>
          Effect.flatMap(readable(id, scope), (stored) => certifiedSpan(storage, stored, size)),
        holding: Effect.fnUntraced(function* (target) {
          yield* known(target, everyUnit)
          const { found } = yield* reaching(target)
          const byId = new Map(found.map((one) => [one.id, one]))
          const sorted = byPrecedence(
            found.map(({ body, id }) => ({
              id,
              epoch: body.epoch,
              response: body.response,
              drill: body.drill?.mode ?? null
            }))
          )
          return yield* Effect.forEach(sorted, ({ id }) =>
            // As it is now: whom it expects is read without a change of the epoch.
            Effect.flatMap(storage.get(KILL_ACTIVATIONS, id), (now) =>
              shown(now === null ? byId.get(id)! : storedActivation(now))
            )
          )
        }),
        status,
        statusAfter,
        quarantineOf: Effect.fnUntraced(function* (agentId, scope = everyUnit) {
          const { live } = yield* reader.view
          if (!live.some(({ body }) => body.response === "quarantine" && body.drill?.mode !== "shadow")) return null
          const agent = yield* Effect.catchTag(readAgent(storage, agentId, scope), "AgentNotFound", () =>
            Effect.succeed(null)
          )
          if (agent === null) return null
          const found = (yield* reader.of(agent)).activations.find(
            ({ drill, response }) => response === "quarantine" && drill !== "shadow"
          )
          return found?.id ?? null
        })
      })
    })
  )
}

/**
 * Finds the activation that holds of an agent because this key requested it, at least as restrictive as a response;
 * null where nothing does.
 */
const heldBy = ({ live }: KillView, agentId: string, { id: key }: Writer, response: KillResponse): string | null =>
  live.find(
    ({ body }) =>
      body.actor === AGENT_REQUEST &&
      body.requestedBy === key &&
      body.targetType === "agent" &&
      body.targetId === agentId &&
      severityOfResponse(body.response) >= severityOfResponse(response)
  )?.id ?? null

const unknownTarget = ({ type }: KillTarget) =>
  new InvalidInput({ detail: [detailItem(["query", "target_type"], "literal_error", "Expected agent or model", type)] })

const invalidAgent = (type: "missing" | "value_error", message: string, input: string | null = null) =>
  new InvalidInput({ detail: [detailItem(["body", "agent_id"], type, message, input)] })

/** Time within which the same activation by the same writer answers the first. Unit: milliseconds. */
const REPEAT_MS = 10_000

/** The activation that one with these members repeats; null where it repeats none that holds. */
const repeated = (
  { live }: KillView,
  target: KillTarget,
  input: Pick<ActivationDocument, "actor" | "reason" | "response">,
  nowMs: number
): StoredActivation | null =>
  live.find(
    ({ body }) =>
      body.drill === null &&
      body.actor === input.actor &&
      body.targetType === target.type &&
      body.targetId === target.id &&
      body.response === input.response &&
      body.reason === input.reason &&
      body.activatedAtMs > nowMs - REPEAT_MS
  ) ?? null

const reachOut = (
  { id, type }: KillTarget,
  { agents, highestTier }: Reached,
  instances: ReadonlyArray<KillInstance> | null
): KillReach => ({
  agents: agents.slice(0, MAX_LISTED).map((agent) => agent.id),
  agent_count: agents.length,
  instances:
    instances
      ?.slice(0, MAX_LISTED)
      .map(({ agentId, instanceId }) => ({ agent_id: agentId, instance_id: instanceId })) ?? null,
  instance_count: instances?.length ?? null,
  models: type === "model" ? [id] : [],
  highest_tier: highestTier
})
