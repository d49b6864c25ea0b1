/** The kill switch as a module. Spec: document 1 section 4, `/bound/kill`; decision 0047. */
import { ActivationPutAside, KILL_TTL_MS, type KillStatusQuery } from "@flyball/contract"
import { kill as all } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { Chain } from "../../chain/chain.ts"
import type { Scope } from "../../foundation/scope.ts"
import { killConfirmation } from "./confirm-stops.ts"
import { killExpectation } from "./expected.ts"
import { Kill, type KillApi } from "./service.ts"

/**
 * A stream of the kill state checks its caller behind a change and not before it, so that no halt waits for it: HTTP
 * and the embedding client write it by hand.
 */
const { stream, ...rows } = all

/** The target that a query names. */
export const targetOf = (
  query: Pick<KillStatusQuery, "target_id" | "target_type">
): Parameters<KillApi["status"]>[0] => ({
  type: query.target_type === "model" ? "model" : "agent",
  id: query.target_id
})

/** Never longer than a third of the time that it counts: an answer used although it is stale would undo a halt. */
const KEPT_S = Math.floor(KILL_TTL_MS / 3_000)

const activation = (id: string, scope: Scope) => Kill.use((kill) => kill.activation(id, scope))

const operations = {
  activate: Effect.fnUntraced(function* ({ body, query }, { scope, writer }) {
    return yield* (yield* Kill).activate(body, yield* writer, scope, { dryRun: query.dry_run === "true" })
  }),
  release: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Kill).release(body, yield* writer, scope)
  }),
  activation: ({ params }, { scope }) => activation(params.activation_id, scope),
  certificate: Effect.fnUntraced(function* ({ params: { activation_id: id } }, { scope }) {
    const { tree_size: size } = yield* (yield* Chain).head
    const found = yield* (yield* Kill).certify(id, size, scope)
    return found ?? (yield* new ActivationPutAside({ activationId: id }))
  }),
  ack: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Kill).ack(body, yield* writer, scope)
  }),
  request: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Kill).request(body, yield* writer, scope)
  }),
  events: ({ query }, { scope }) => Kill.use((kill) => kill.events(query, scope)),
  status: Effect.fnUntraced(function* ({ query }, { knows, scope, whileAdmitted }) {
    const kill = yield* Kill
    const target = targetOf(query)
    if (query.nonce !== undefined) return { value: yield* kill.status(target, scope, query.nonce), tag: null, keptS: 0 }
    const first = (yield* kill.statusAfter(target, null, 0, scope))!
    const { wait_ms: waitMs = 0 } = query
    const { found } =
      waitMs > 0 && knows(first.tag)
        ? yield* whileAdmitted(waitMs, (still, stretchMs) =>
            kill.statusAfter(target, first.tag, stretchMs, still.scope)
          )
        : { found: null }
    const { status, tag } = found ?? first
    return { value: status, tag, keptS: KEPT_S }
  })
} satisfies OperationsOf<typeof rows>

/** The kill switch: stops an agent, or every agent that uses a model. Spec: decision 0047. */
export const kill: Module<
  "kill",
  typeof rows,
  typeof operations,
  typeof Kill.layer,
  typeof killConfirmation | typeof killExpectation
> = defineModule({
  name: "kill",
  rows,
  operations,
  layer: Kill.layer,
  jobs: [killConfirmation, killExpectation],
  reads: [{ missing: "ActivationNotFound", member: "activationId", param: "activation_id", get: activation }]
})
