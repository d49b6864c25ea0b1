/** The usage figures in sentences. */
import type { AgentUsage, UsageReport } from "@flyball/rules"
import { listed } from "../replay/counted.ts"
import type { Entry } from "../reports/report-facts.ts"

/** The line beside the contents. */
export const usageText = ({ agents, from, incident, reviews, to }: UsageReport): string => {
  const sum = (of: (agent: AgentUsage) => number): number => agents.reduce((total, agent) => total + of(agent), 0)
  return [
    `${from} to ${to}: ${sum(({ decisions }) => decisions)} decisions of ${agents.length} agents,`,
    `${sum(({ input_tokens: tokens }) => tokens)} tokens in and ${sum(({ output_tokens: tokens }) => tokens)} out,`,
    `${sum(({ cost_micro_usd: cost }) => cost ?? 0)} micro-USD.`,
    `${reviews.opened} reviews opened, ${reviews.approved} approved, ${reviews.rejected} rejected.`,
    `${incident.count} incidents ended, ${incident.open_incidents.length} open; mean time to repair ` +
      `${incident.mttr_ms === null ? "none" : `${incident.mttr_ms} ms`}.`
  ].join(" ")
}

/** A line for each agent, below the findings. */
export const usageEntry = ({ agents }: UsageReport): Entry => ({
  title: `Usage of agents: ${agents.length}` + listed(agents.slice(0, MAX_LISTED), agents.length),
  items: agents.slice(0, MAX_LISTED).map(agentText)
})

const agentText = (agent: AgentUsage): string =>
  `${agent.agent_id}: ${agent.decisions} decisions; evaluations ` +
  `${Object.entries(agent.evaluations)
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(", ")}; ` +
  `${agent.input_tokens} tokens in, ${agent.output_tokens} out, ` +
  `${agent.cost_micro_usd === null ? "no price" : `${agent.cost_micro_usd} micro-USD`}` +
  `${agent.unpriced_tokens === 0 ? "" : `, ${agent.unpriced_tokens} tokens without a price`}`

const MAX_LISTED = 20
