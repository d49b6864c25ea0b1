/** A scripted service for the hold cases: one agent at a time. */
import type { AgentClient } from "@flyball/client"
import { governedAgent } from "../../../packages/client/src/adapters/testing/governed-agent.ts"
import type { ReviewWorld } from "./hold-cases.ts"

/** Opens the service. */
export const openScriptedReviews = async (): Promise<ReviewWorld> => {
  let governed: Awaited<ReturnType<typeof governedAgent>> | null = null
  const now = () => governed!
  const rest = async (): Promise<void> => {
    await governed?.client.close()
    governed = null
  }
  return {
    agent: async () => {
      governed = await governedAgent()
      governed.script.verdict = ({ action, signals }) =>
        action === "refund" && Number(signals["amount"]) > 50 ? "require_review" : "allow"
      return governed.agent as unknown as AgentClient
    },
    openReviews: async () => [...now().reviews].flatMap(([id, { status }]) => (status === "open" ? [id] : [])),
    resolve: async (reviewId, resolution) => now().resolve(reviewId, resolution),
    halt: () => now().halt(),
    outcomes: async () => (await now().witnessed()).map(({ action, status }) => `${action} ${status}`),
    rest,
    close: rest
  }
}
