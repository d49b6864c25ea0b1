/** The agent for which a caller acts. */
import { type InvalidInput, isId } from "@flyball/contract"
import type { OperationCaller } from "@flyball/core"
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
