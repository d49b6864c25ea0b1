/** The registry as a host sees it: what its rows do not say. */
import { AgentCreateOfUnit, decode } from "@flyball/contract"
import { Effect } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { AgentsClient } from "../governor.ts"
import { acting, type Client } from "./client.ts"
import { decoded } from "./input.ts"

const decodeAgent = decode(AgentCreateOfUnit)

/** Finds agents by name. */
export const agentsClient = (client: Client, own: Writer): Pick<AgentsClient, "register" | "find"> => {
  const act = acting(client, own)
  return {
    register: (input, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeAgent, input), (agent) =>
            Agents.use((agents) => agents.register(agent, writer))
          ),
        options
      ),
    find: (name, options) =>
      client.run(
        Agents.use((agents) => agents.find(name)),
        options
      )
  }
}
