/** A governed connection of MCP whose two ends a test plays. */
import type { GovernedAgent } from "../calls.ts"
import { governCalls } from "../calls.ts"
import type { JsonRpcMessage, JsonRpcResponse } from "../json-rpc.ts"
import { mediate } from "../mediator.ts"

/** The mediator of an agent's connection, and what it sent to the server and to the client. */
export const playedConnection = (agent: GovernedAgent) => {
  const calls = governCalls(agent, {})
  const atServer: Array<JsonRpcMessage> = []
  const atClient: Array<JsonRpcResponse> = []
  const mediator = mediate({
    calls: () => Promise.resolve(calls),
    toServer: async (message) => void atServer.push(message),
    toClient: (message) => void atClient.push(message as JsonRpcResponse)
  })
  return { mediator, atServer, atClient }
}
