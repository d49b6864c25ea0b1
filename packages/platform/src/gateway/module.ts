/** The gateway as a module. Spec: document 2 section 8; platform section 8. */
import { gateway as rows } from "@flyball/contract/http"
import { defineModule, type Module, oneUnit, type OperationCaller, type OperationsOf, rounds } from "@flyball/core"
import { Effect, Layer } from "effect"
import { ROUND_MS } from "./ledger.ts"
import { Gateway, type GatewayOptions } from "./service.ts"
import type { GatewayForm } from "./upstreams.ts"

interface Request {
  readonly body: { readonly model: string; readonly stream?: boolean | null }
  readonly query: { readonly org_unit?: string }
}

const pass = Effect.fnUntraced(function* (form: GatewayForm, { body, query }: Request, caller: OperationCaller) {
  const unit = yield* oneUnit(caller.scope, query.org_unit)
  return yield* (yield* Gateway).pass(form, unit, body, caller)
})

const operations = {
  chat: (request, caller) => pass("chat", request, caller),
  responses: (request, caller) => pass("responses", request, caller),
  messages: (request, caller) => pass("messages", request, caller),
  sdkMessages: (request, caller) => pass("messages", request, caller)
} satisfies OperationsOf<typeof rows>

/** Settles what processes left behind that are gone. Every process does. */
const sweeper: Layer.Layer<never, never, Gateway> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { sweep } = yield* Gateway
    yield* rounds(sweep, {
      failed: "Calls of models are not settled; the next round is soon.",
      over: "Calls of models are settled again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

/** Models behind the governance of their agents. Spec: platform section 8. */
export const gateway = (
  options: GatewayOptions
): Module<"gateway", typeof rows, typeof operations, ReturnType<typeof Gateway.layer>, typeof sweeper> =>
  defineModule({ name: "gateway", rows, operations, layer: Gateway.layer(options), jobs: [sweeper] })
