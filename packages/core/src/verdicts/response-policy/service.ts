/**
 * The response policy: what follows when something triggers. Spec: api.md "bounded autonomy"; envelopes.md 3.10;
 * decision 0046.
 */
import {
  type InvalidInput,
  isId,
  type PolicyRow as PolicyRowOut,
  PolicyVersionConflict,
  type ResponsePolicyIn
} from "@flyball/contract"
import {
  emptyResponsePolicy,
  type PolicyAnswer,
  type PolicyFacts,
  type PolicyRow,
  type PolicyTrigger,
  RESPONSE_POLICY,
  RESPONSE_POLICY_ID,
  responseFor,
  type ResponsePolicyDocument
} from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import type { Versioned } from "../../capability/operation.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ChangeSet, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { policyRow, policyRowOut, storedPolicy } from "./document.ts"
import { planSetPolicy } from "./plan-set.ts"

/** Rows of the response policy with its version; 0 if none was ever set. Spec: decision 0046. */
export type VersionedPolicy = Versioned<ReadonlyArray<PolicyRowOut>>

/** Operations on the response policy. Spec: document 1 section 5, item 8; decision 0046. */
export interface ResponsePoliciesApi {
  /** The policy in force, as stored now: what another process has set counts at once. */
  readonly current: Effect.Effect<ResponsePolicyDocument, ReadFault>
  /** Finds the response of the policy in force for an agent and a trigger; null where no row applies. */
  readonly responseFor: (agent: PolicyFacts, trigger: PolicyTrigger) => Effect.Effect<PolicyAnswer | null, ReadFault>
  /** Rows for everyone and for tiers, and those of agents and org units in scope. In the order that was set. */
  readonly get: (scope?: Scope) => Effect.Effect<VersionedPolicy, ReadFault>
  /** Replaces all of it; with `ifVersion` only where that is the version in force. */
  readonly set: (
    rows: ResponsePolicyIn,
    writer: Writer,
    ifVersion?: number | null
  ) => Effect.Effect<VersionedPolicy, InvalidInput | PolicyVersionConflict | ReadFault>
}

/** Service of the response policy. Spec: document 1 section 5, item 8; decision 0046. */
export class ResponsePolicies extends Context.Service<ResponsePolicies, ResponsePoliciesApi>()(
  "flyball/core/ResponsePolicies"
) {
  static readonly layer: Layer.Layer<ResponsePolicies, never, Storage> = Layer.effect(
    ResponsePolicies,
    Effect.gen(function* () {
      const storage = yield* Storage
      const current = readResponsePolicy(storage)
      return ResponsePolicies.of({
        current,
        responseFor: (agent, trigger) => Effect.map(current, (policy) => responseFor(policy, agent, trigger)),
        get: Effect.fnUntraced(function* (scope = everyUnit) {
          const { body, version } = storedPolicy(yield* storage.get(RESPONSE_POLICY, RESPONSE_POLICY_ID))
          const shown = yield* Effect.filter(body.rows, (row) => isShown(storage, row, scope))
          return { value: shown.map(policyRowOut), version }
        }),
        set: (input, writer, ifVersion = null) => {
          const rows = input.map(policyRow)
          return commitWithRetry(
            storage,
            Effect.gen(function* () {
              const stored = storedPolicy(yield* storage.get(RESPONSE_POLICY, RESPONSE_POLICY_ID))
              if (ifVersion !== null && ifVersion !== stored.version)
                return yield* new PolicyVersionConflict({ version: stored.version })
              const agents = yield* knownAgents(storage, rows)
              const { change, policy } = yield* Effect.fromResult(planSetPolicy(stored, rows, agents, writer))
              yield* storage.commit(change)
              return { value: policy.rows.map(policyRowOut), version: stored.version + 1 }
            }),
            { collection: RESPONSE_POLICY, id: RESPONSE_POLICY_ID }
          )
        }
      })
    })
  )
}

/**
 * The policy in force, for letters and lists that follow it. What activates by it takes {@link policyToActBy}. Spec:
 * decision 0046.
 */
export const readResponsePolicy = (storage: StorageApi): Effect.Effect<ResponsePolicyDocument, ReadFault> =>
  Effect.map(storage.get(RESPONSE_POLICY, RESPONSE_POLICY_ID), (document) =>
    document === null ? emptyResponsePolicy : storedPolicy(document).body
  )

/**
 * The policy in force, with what a commit that acts by it expects: a record follows from the policy before it. Spec:
 * decision 0061.
 */
export const policyToActBy = (
  storage: StorageApi
): Effect.Effect<
  { readonly policy: ResponsePolicyDocument; readonly expects: NonNullable<ChangeSet["expects"]> },
  ReadFault
> =>
  Effect.map(storage.get(RESPONSE_POLICY, RESPONSE_POLICY_ID), (document) => {
    const { body, version } = storedPolicy(document)
    return { policy: body, expects: [{ collection: RESPONSE_POLICY, id: RESPONSE_POLICY_ID, version }] }
  })

const isShown = (
  storage: StorageApi,
  { scope: about, target }: PolicyRow,
  scope: Scope
): Effect.Effect<boolean, ReadFault> =>
  scope.orgUnits === "*" || about === "default" || about === "tier"
    ? Effect.succeed(true)
    : about === "org_unit"
      ? Effect.succeed(covers(scope, target))
      : Effect.map(
          storage.get(AGENTS, String(target)),
          (agent) => agent !== null && covers(scope, storedAgent(agent).body.orgUnit)
        )

/** The agents that rows name and that exist. */
const knownAgents = Effect.fnUntraced(function* (
  storage: StorageApi,
  rows: ReadonlyArray<PolicyRow>
): Effect.fn.Return<ReadonlySet<string>, ReadFault> {
  const named = new Set(rows.flatMap(({ scope, target }) => (scope === "agent" && target !== null ? [target] : [])))
  return new Set(
    yield* Effect.filter(
      [...named].filter((id) => isId("agent", id)),
      (id) => Effect.map(storage.get(AGENTS, id), (agent) => agent !== null)
    )
  )
})
