/**
 * A Flyball service in this process, in memory, with one agent that may refund up to 50 EUR alone. Elsewhere this is
 * `flyball serve`, and an agent has nothing of it but an address and a key.
 */
import { createServer } from "node:http"
import { ephemeralKeys, memoryStorage, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"

const ENVELOPE = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["lookup", "refund"], source: "caller" },
    cents: { type: "int", min: 0, max: 1_000_000, unit: "EUR/100", source: "caller", optional: true }
  },
  effects: { lookup: "read", refund: "write_reversible" },
  rules: [
    { id: "lookup", outcome: "allow", when: [{ signal: "tool", in: ["lookup"] }] },
    {
      id: "small",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "cents", lte: 5_000 }
      ]
    }
  ],
  default: { outcome: "deny" }
}

/** Opens the service, and registers and activates the agent `name`. `gateway`: its key is a proxy's. */
export const openService = async (name, { gateway = false } = {}) => {
  const governor = await openGovernor({
    storage: memoryStorage(),
    keys: ephemeralKeys(),
    origin: "flyball.example/acme/agents"
  })
  const api = openHttp(governor, {
    authentication: {
      authenticate: ({ headers }) =>
        headers.get("x-operator") === null
          ? null
          : { subject: headers.get("x-operator"), grants: [{ role: "admin", org_unit: "*" }] }
    }
  })
  const server = createServer(api.node)
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${server.address().port}`

  /** A request of a person. */
  const operate = async (person, path, json) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: json === undefined ? "GET" : "POST",
      headers: { "x-operator": person, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  const owner = { owner_name: "Ada Lovelace", owner_email: "ada@example.org" }
  const { agent } = await governor.agents.register({ name, org_unit: "support", ...owner })
  // One person writes it, another publishes it. In a real service these are two people, not two lines.
  const draft = { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE }
  const { id } = await governor.envelopes.create(draft, { writer: "system:ada" })
  await governor.envelopes.publish(id, {}, { writer: "system:ben" })
  await governor.agents.update(agent.id, { autonomy_tier: "L2" }, { writer: "system:ben" })
  await governor.agents.activate(agent.id, { writer: "system:ben" })
  const mint = { name: "the example", org_unit: "support", ...(gateway ? { capture: "mediated" } : {}) }
  const { key } = await operate("olga", "/admin/ingest-keys", mint)

  return {
    url,
    key,
    /** An operator stops the agent. */
    halt: () =>
      operate("olga", "/bound/kill/activate", { target_type: "agent", target_id: agent.id, reason: "pays twice" }),
    /** What the service holds of the agent, oldest first. */
    decisions: async () => (await operate("olga", `/agents/${agent.id}/decisions`)).toReversed(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await api.close()
      await governor.close()
    }
  }
}

/** Prints what the service holds of the agent. */
export const printRecord = async (service) => {
  console.log("in the record:")
  for (const { action, capture, status } of await service.decisions()) console.log(`  ${action} ${status}, ${capture}`)
}
