/** Governance of this service's refund agent: one governor, one agent, one envelope, one guarded call. */
import { createHash, generateKeyPairSync, sign, timingSafeEqual } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { GovernorError, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder, trustFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"

/**
 * Up to 20 EUR alone, 50 EUR a day. Everything that no rule allows is denied.
 *
 * @type {import("@flyball/core").EnvelopeSource}
 */
const ENVELOPE = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller" }
  },
  effects: { refund: "money" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 2_000 }] },
    { id: "daily", outcome: "deny", reason: "50 EUR a day are enough", when: [{ meter: "spent", after_gt: 5_000 }] }
  ],
  default: { outcome: "deny" }
}

/**
 * Vouches for the agent: a tool of the class `money` acts alone from L3 on, which needs a verified identity. Here a key
 * of the first start signs; a real organisation keeps such a key elsewhere, and signs with `flyball card sign`.
 */
const vouch = async (governor, agent, trust) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const file = { mode: 0o600 }
  writeFileSync(`${trust}/acme.pem`, publicKey.export({ type: "spki", format: "pem" }), file)
  const card = Buffer.from(JSON.stringify({ name: agent.name }))
  const signature = sign(null, card, privateKey).toString("base64")
  await governor.agents.attachIdentity(
    agent.id,
    { signed_card: { card: card.toString("base64"), signature, key_id: "acme" } },
    { writer: "system:ben" }
  )
}

/** Opens the governor in a folder. Each step does what is missing, so that a start which failed half-way continues. */
export const openGovernance = async (folder) => {
  const trust = `${folder}/trust`
  mkdirSync(trust, { recursive: true, mode: 0o700 })
  const governor = await openGovernor({
    storage: sqliteStorage({ file: `${folder}/governance.db` }),
    keys: dataFolder({ dir: `${folder}/keys` }),
    trustStore: trustFolder({ dir: trust }),
    origin: "flyball.example/acme/refunds"
  })
  const client = await governor.client({
    agent: { name: "refund-bot", org_unit: "support", owner_name: "Ada Lovelace", owner_email: "ada@example.org" }
  })
  const { agent } = client
  // One person writes it, another publishes it. In a real service these are two people, not two words.
  await governor.envelopes.ensure(
    { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE },
    { writer: "system:ada", approver: "system:ben" }
  )
  if (!agent.identity_verified) await vouch(governor, agent, trust)
  if (agent.status === "draft") {
    await governor.agents.update(agent.id, { autonomy_tier: "L3" }, { writer: "system:ben" })
    await governor.agents.activate(agent.id, { writer: "system:ben" })
  }
  return { governor, client }
}

const digest = (text) => createHash("sha256").update(text).digest()

/**
 * The API for operators outside this program, below `/flyball`. One operator with one token; a real service has its own
 * sessions, or an OpenID provider. Without a token nobody gets in.
 */
export const openOperations = (governor, token) =>
  openHttp(governor, {
    prefix: "/flyball",
    authentication: {
      authenticate: ({ headers }) => {
        const given = headers.get("x-operator-token") ?? ""
        if (token === undefined || !timingSafeEqual(digest(given), digest(token))) return null
        return { subject: "olga@example.org", grants: [{ role: "operator", org_unit: "*" }] }
      }
    }
  })

/** Answers a request with what the governor refused, in words. Null: not a refusal. */
export const refusalOf = (cause) =>
  cause instanceof GovernorError
    ? {
        status: cause.code === "action_denied" ? 403 : 422,
        body: { code: cause.code, message: cause.message, detail: cause.detail ?? null }
      }
    : null
