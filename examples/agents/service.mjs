/**
 * A Flyball service in this process, in memory, with one agent that may refund up to 50 EUR alone. Elsewhere this is
 * `flyball serve`, and an agent has nothing of it but an address and a key.
 */
import { generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ephemeralKeys, memoryStorage, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { trustFolder } from "@flyball/node"

/** @type {import("@flyball/core").EnvelopeSource} */
const ENVELOPE = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["lookup", "refund"], source: "caller" },
    cents: { type: "int", min: 0, max: 1_000_000, unit: "EUR/100", source: "caller", optional: true }
  },
  effects: { lookup: "read", refund: "money" },
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

/** A card of the agent, signed by the key `acme`, which is put into the trust store. `flyball card` does the same. */
const signedCard = (name, trust) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  writeFileSync(join(trust, "acme.pem"), publicKey.export({ type: "spki", format: "pem" }), { mode: 0o600 })
  const card = Buffer.from(JSON.stringify({ name }))
  return { card: card.toString("base64"), signature: sign(null, card, privateKey).toString("base64"), key_id: "acme" }
}

/** Opens the service, and registers and activates the agent `name`. `gateway`: its key is a proxy's. */
export const openService = async (name, { gateway = false } = {}) => {
  const trust = mkdtempSync(join(tmpdir(), "flyball-trust-"))
  const governor = await openGovernor({
    storage: memoryStorage(),
    keys: ephemeralKeys(),
    trustStore: trustFolder({ dir: trust }),
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
  // One person writes it, another publishes it. In a real service these are two people, not two words.
  const refunds = { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE }
  await governor.envelopes.ensure(refunds, { writer: "system:ada", approver: "system:ben" })
  // A tool of the class `money` acts alone from L3 on, which needs a verified identity.
  await governor.agents.attachIdentity(agent.id, { signed_card: signedCard(name, trust) }, { writer: "system:ben" })
  await governor.agents.update(agent.id, { autonomy_tier: "L3" }, { writer: "system:ben" })
  await governor.agents.activate(agent.id, { writer: "system:ben" })
  const mint = { name: "the example", org_unit: "support", ...(gateway ? { capture: "mediated" } : {}) }
  const { key } = await governor.ingestKeys.mint(mint, { writer: "system:ben" })

  return {
    url,
    key,
    /** An operator stops the agent. */
    halt: () =>
      operate("olga", "/bound/kill/activate", { target_type: "agent", target_id: agent.id, reason: "pays twice" }),
    /** Reads the agent's decisions, oldest first. */
    decisions: async () => (await operate("olga", `/agents/${agent.id}/decisions`)).toReversed(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await api.close()
      await governor.close()
      rmSync(trust, { recursive: true })
    }
  }
}

/** Prints what the service holds of the agent. */
export const printRecord = async (service) => {
  console.log("in the record:")
  for (const { action, capture, status } of await service.decisions()) console.log(`  ${action} ${status}, ${capture}`)
}
