/** Acts on an agent in its lifecycle: read, plan, commit. */
import {
  type Agent,
  type AgentNotFound,
  type AgentUpdate,
  type AgentVersionConflict,
  type DisownIn,
  type InvalidInput,
  type InvalidTransition,
  type OwnershipTransfer,
  type RecertifyIn,
  type SuspendIn,
  type TierGateUnmet
} from "@flyball/contract"
import { Clock, Effect, type Result } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { AgentPlan } from "./change-agent.ts"
import { AGENTS, agentOut, type StoredAgent } from "./document.ts"
import { planDisown } from "./plan-disown.ts"
import { planTransferOwnership } from "./plan-transfer.ts"
import { planActivate } from "./plan-activate.ts"
import { planDecommission } from "./plan-decommission.ts"
import { planDue, planSuspend } from "./plan-suspend.ts"
import { planRecertify } from "./plan-recertify.ts"
import { planUpdate, updatedAgent } from "./plan-update.ts"
import { readAgent } from "./read-agent.ts"
import { type AgentDocument, unmetConditions } from "@flyball/rules"
import { type TierEvidenceApi, tierFactsOf } from "./tier-evidence.ts"

/** An act on the agent of this id, as far as `scope` sees it. Answers the agent after it. */
type Act<Input, Refusal> = (
  id: string,
  input: Input,
  writer: Writer,
  scope?: Scope
) => Effect.Effect<Agent, AgentNotFound | Refusal | ReadFault>

/** Acts on agents. Each is one commit of the document and its record. Spec: document 1 section 3; decision 0013. */
export interface AgentActs {
  /**
   * Changes what is given; what is left out stays. Where nothing changes, nothing is recorded, and the agent is
   * answered as it is.
   */
  readonly update: Act<AgentUpdate, InvalidTransition | AgentVersionConflict | TierGateUnmet>
  /** Draft or suspended to active, if the agent has what its tier needs. */
  readonly activate: (
    id: string,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Agent, AgentNotFound | InvalidTransition | TierGateUnmet | ReadFault>
  /** Draft or active to suspended, by a person. A suspended agent is answered as it is, and nothing is recorded. */
  readonly suspend: Act<SuspendIn, InvalidTransition>
  /** Suspends the agent if a suspension is due now; null when none is due. */
  readonly suspendIfDue: (id: string) => Effect.Effect<Agent | null, ReadFault>
  /** The end of an agent. */
  readonly decommission: (
    id: string,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Agent, AgentNotFound | InvalidTransition | ReadFault>
  readonly recertify: Act<RecertifyIn, InvalidTransition | InvalidInput>
  readonly transferOwnership: Act<OwnershipTransfer, InvalidTransition>
  /** Takes the owner away, which starts the orphan clock. */
  readonly disown: Act<DisownIn, InvalidTransition>
}

/** Dependencies of the acts. */
export interface ActsOptions {
  readonly storage: StorageApi
  readonly tenantId: string
  readonly evidence: TierEvidenceApi
  /** First 4 bytes of SHA-256 of the chain's origin. */
  readonly originTag: Uint8Array
}

/** The acts over a store. */
export const agentActs = ({ evidence, originTag, storage, tenantId }: ActsOptions): AgentActs => {
  /** Reads the agent, plans, commits, and again when it changed meanwhile. */
  const act = <E, F = never>(
    id: string,
    scope: Scope,
    plan: (stored: StoredAgent, nowMs: number) => Effect.Effect<Result.Result<AgentPlan | null, E>, F>
  ) =>
    commitWithRetry(
      storage,
      Effect.gen(function* () {
        const stored = yield* readAgent(storage, id, scope)
        const planned = yield* Effect.fromResult(yield* plan(stored, yield* Clock.currentTimeMillis))
        // Before the commit: a fault after it would report an act as failed that is done.
        const facts = yield* tierFactsOf(evidence, { id, body: planned?.agent ?? stored.body })
        const shown = { tenantId, facts, nowMs: yield* Clock.currentTimeMillis }
        if (planned === null) return agentOut(stored, shown)
        yield* storage.commit(planned.change)
        return agentOut({ id, version: stored.version + 1, body: planned.agent }, shown)
      }),
      { collection: AGENTS, id }
    )

  /** The conditions of its tier that an agent does not meet. */
  const unmet = (id: string, body: AgentDocument, nowMs: number) =>
    Effect.map(tierFactsOf(evidence, { id, body }), (facts) => unmetConditions(body, facts, nowMs))

  return {
    update: (id, input, writer, scope = everyUnit) =>
      act(id, scope, (stored, nowMs) =>
        Effect.map(unmet(id, updatedAgent(stored.body, input), nowMs), (missing) =>
          planUpdate(stored, input, writer, missing, originTag)
        )
      ),
    activate: (id, writer, scope = everyUnit) =>
      act(id, scope, (stored, nowMs) =>
        Effect.map(unmet(id, stored.body, nowMs), (missing) => planActivate(stored, writer, missing))
      ),
    suspend: (id, input, writer, scope = everyUnit) =>
      act(id, scope, (stored) =>
        Effect.succeed(planSuspend(stored, { cause: "manual", reason: input.reason ?? null, writer }))
      ),
    suspendIfDue: (id) =>
      act(id, everyUnit, (stored, nowMs) => Effect.succeed(planDue(stored, nowMs))).pipe(
        Effect.catchTag(["AgentNotFound", "InvalidTransition"], () => Effect.succeed(null))
      ),
    decommission: (id, writer, scope = everyUnit) =>
      act(id, scope, (stored, nowMs) => Effect.succeed(planDecommission(stored, writer, nowMs))),
    recertify: (id, input, writer, scope = everyUnit) =>
      act(id, scope, (stored, nowMs) => Effect.succeed(planRecertify(stored, input, writer, nowMs))),
    transferOwnership: (id, input, writer, scope = everyUnit) =>
      act(id, scope, (stored) => Effect.succeed(planTransferOwnership(stored, input, writer))),
    disown: (id, input, writer, scope = everyUnit) =>
      act(id, scope, (stored, nowMs) => Effect.succeed(planDisown(stored, input, writer, nowMs)))
  }
}
