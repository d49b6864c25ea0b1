/** Acts on the response policy: set it, and request a stop that it answers. Every number is a choice of the seed. */
import { Kill, ResponsePolicies, systemHost } from "@flyball/core"
import type { ResponsePolicyIn } from "@flyball/contract"
import { Effect } from "effect"
import { type Act, ask, unexpected } from "./client.ts"
import { agentOf } from "./governed-acts.ts"
import { lineOf } from "./ledger.ts"

const responses = ["notify", "step_down", "drain", "halt"] as const
const scopes = [
  { scope: "default" },
  { scope: "tier", target: "L0" },
  { scope: "tier", target: "L2" },
  { scope: "org_unit", target: "ops" }
] as const

/** Replaces the policy: none to four rows of requests and of breakers. */
const ruleBy: Act = Effect.fnUntraced(function* (client) {
  const { pick } = client
  if ((yield* agentOf(client)) === null) return
  const rows = scopes.flatMap((one) =>
    pick(2) === 0
      ? []
      : [
          {
            ...one,
            trigger: pick(3) === 0 ? ("breaker" as const) : ("agent_request" as const),
            response: responses[pick(responses.length)]!,
            notify: []
          }
        ]
  )
  const answer = yield* ask(
    client,
    "set policy",
    ResponsePolicies.use((policies) => policies.set(rows as ResponsePolicyIn, systemHost))
  )
  if (answer?.done === false) yield* unexpected(client, "set policy", answer.refusal._tag)
})

/** Requests the stop of a governed agent as the caller that registered it; the policy answers, or nobody does. */
const wish: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const reason = `wish-${client.name}/${turn}`
  // Whether it activates is the policy's to say, so none need be there; more than the tries cannot.
  const line = lineOf(ledger.killActivations, reason, () => ({ tries: 0, acknowledged: 0, id: null }))
  const answer = yield* ask(
    client,
    "wish",
    Kill.use((kill) => kill.request({ agent_id: agentId, reason }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "wish", answer.refusal._tag))
  ledger.count(answer.value.activation_event === null ? "wish: only noted" : "wish: answered")
})

/** The acts by name. */
export const policyActs = { ruleBy, wish } satisfies { readonly [name: string]: Act }
