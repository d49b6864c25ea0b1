// Flyball with a gateway, in memory. A server of its own reads its upstreams from FLYBALL_GATEWAY_UPSTREAMS instead.
import { createServer } from "node:http"
import { memoryStorage, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { pinnedWebhooks } from "@flyball/node"
import { platform, readUpstreams } from "@flyball/platform"

export const startFlyball = async (model) => {
  const file = { upstreams: [{ model: "small-1", base_url: model, forms: ["chat"] }] }
  const governor = await openGovernor({
    storage: memoryStorage(),
    log: () => undefined,
    webhooks: pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true }),
    capabilities: [platform({ gateway: { upstreams: readUpstreams(JSON.stringify(file)) } })]
  })
  const { agent } = await governor.agents.register({
    name: "clerk",
    org_unit: "sales",
    owner_name: "Ada Lovelace",
    owner_email: "ada@example.org"
  })
  const envelope = {
    semantics: "envelope/1",
    signals: { tool: { type: "enum", values: ["get_order", "refund"], source: "caller" } },
    effects: { get_order: "read", refund: "money" },
    rules: [{ id: "reads", outcome: "allow", when: [{ signal: "tool", eq: "get_order" }] }],
    default: { outcome: "deny" }
  }
  // Two people: the author of what allows more does not put it in force.
  const author = { writer: "system:author" }
  const { id } = await governor.envelopes.create({ name: "orders", agent_id: agent.id, envelope }, author)
  await governor.envelopes.publish(id, {})
  await governor.agents.activate(agent.id)
  const scopes = ["gateway:write", "usage:read"]
  const { key } = await governor.platformKeys.mint({ name: "clerk", org_unit: "sales", plan: "starter", scopes })
  const server = createServer(openHttp(governor).node).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  return { governor, agent, key, server, url: `http://127.0.0.1:${server.address().port}` }
}
