/** Ends a run before its next model call when the agent is halted. */
import type { CallModelInputFilter } from "@openai/agents"
import type { AgentClient } from "../../client.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { stoppedSentence } from "../../kill/kill-view.ts"

/**
 * A filter for `callModelInputFilter` of a run or a runner: it passes the input on as it is, and throws
 * `ActionDenied` while the agent is halted, or while nothing is known of that for a minute. Then the run ends.
 */
export const stopWhenHalted =
  (agent: AgentClient): CallModelInputFilter =>
  async ({ modelData }) => {
    // A first question may be under way still.
    if (agent.kill.denial("read") !== null) await agent.kill.refresh()
    const rule = agent.kill.denial("read")
    if (rule === null) return modelData
    const outcome = rule === "@killed" ? "halt" : "deny"
    const reason = stoppedSentence(agent.kill.view(), "No model call begins while the agent is stopped")
    throw new ActionDenied("model", outcome, rule, reason, null)
  }
