/** The agent for which a caller acts, and what of its acts is the same in every product: evaluation and review. */
import { type InvalidInput, isId } from "@flyball/contract"
import { Evaluations, type OperationCaller, Reviews, type Scope, type Writer } from "@flyball/core"
import { Effect } from "effect"
import { wrongHeader } from "./gateway/upstreams.ts"

/** Names the agent of a call: by its key, or by the header X-Flyball-Agent. */
export const callingAgent = ({ account, received }: OperationCaller): Effect.Effect<string, InvalidInput> => {
  const header = received?.header("x-flyball-agent") ?? null
  const ofKey = account?.agentId ?? null
  const wrong = (msg: string, given: string | null) => Effect.fail(wrongHeader("X-Flyball-Agent", msg, given))
  if (header !== null && ofKey !== null && header !== ofKey)
    return wrong(`Expected ${ofKey}, the agent of this key, or no header`, header)
  const agentId = header ?? ofKey
  return agentId !== null && isId("agent", agentId)
    ? Effect.succeed(agentId)
    : wrong("Expected the id agt_… of the agent that calls", agentId)
}

/** Evaluates an act over its arguments. Where a layer declares them as signals of a caller, they are that too. */
export const evaluateAct = Effect.fnUntraced(function* (
  act: {
    readonly agentId: string
    readonly action: string
    readonly args: { readonly [name: string]: unknown }
    readonly ref: string
    readonly approvalId: string | null
  },
  writer: Writer,
  scope: Scope
) {
  const evaluations = yield* Evaluations
  const { action, agentId, approvalId, args, ref } = act
  const { answer } = yield* evaluations.inForce(agentId, scope)
  const declared = new Set(answer.layers.flatMap((layer) => layer.caller_signals))
  const signals = Object.fromEntries(
    // Last: an argument of that name says nothing of the tool.
    [...Object.entries(args), ["tool", action] as const].filter(
      ([name, value]) => declared.has(name) && typeof value !== "object"
    )
  )
  const intent = { agent_id: agentId, client_ref: ref, action, signals, args }
  return yield* evaluations.evaluate(
    approvalId === null ? intent : { ...intent, approval_id: approvalId },
    writer,
    scope
  )
})

/** Reads a review: `open`, `approve`, or what else it ended as; null where there is none. */
export const reviewOf = (id: string, scope: Scope) =>
  Reviews.use((reviews) => reviews.get(id, scope)).pipe(
    Effect.map(({ resolution, status }) =>
      status === "open" || status === "claimed" ? "open" : (resolution ?? status)
    ),
    Effect.catchTag("ReviewNotFound", () => Effect.succeed(null))
  )
