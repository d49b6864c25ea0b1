/** Governance of this service's refund agent: one governor, one agent, one envelope, one guarded call. */
import { createHash, timingSafeEqual } from "node:crypto"
import { GovernorError, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"

/** Up to 20 EUR alone, 50 EUR a day. Everything that no rule allows is denied. */
const ENVELOPE = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller" }
  },
  effects: { refund: "write_reversible" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 2_000 }] },
    { id: "daily", outcome: "deny", reason: "50 EUR a day are enough", when: [{ meter: "spent", after_gt: 5_000 }] }
  ],
  default: { outcome: "deny" }
}

/** Opens the governor in a folder, and makes the agent and its envelope on the first start. */
export const openGovernance = async (folder) => {
  const governor = await openGovernor({
    storage: sqliteStorage({ file: `${folder}/governance.db` }),
    keys: dataFolder({ dir: `${folder}/keys` }),
    origin: "flyball.example/acme/refunds"
  })
  const { agent, created } = await governor.agents.register({
    name: "refund-bot",
    org_unit: "support",
    owner_name: "Ada Lovelace",
    owner_email: "ada@example.org"
  })
  if (created) {
    // One person writes it, another publishes it. In a real service these are two people, not two lines.
    const { id } = await governor.envelopes.create(
      { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE },
      { writer: "system:ada" }
    )
    await governor.envelopes.publish(id, {}, { writer: "system:ben" })
    await governor.agents.update(agent.id, { autonomy_tier: "L2" }, { writer: "system:ben" })
    await governor.agents.activate(agent.id, { writer: "system:ben" })
  }
  return { governor, agentId: agent.id }
}

/**
 * Asks before it acts, and records what came of it. `ref` names the intent: the same `ref` again gets the first
 * verdict, and pays once.
 */
export const guarded = async ({ governor, agentId }, { ref, signals, args }, act) => {
  const verdict = await governor.evaluate({ agent_id: agentId, client_ref: ref, signals })
  if (verdict.outcome !== "allow" && verdict.outcome !== "allow_with_notice")
    return { done: false, outcome: verdict.outcome, rule: verdict.matched_rule }
  const { receipts } = await governor.witness(agentId, {
    client_ref: ref,
    kind: "tool_call",
    action: signals.tool,
    status: "intended",
    args,
    evaluation_id: verdict.id
  })
  const { decision_id, duplicate } = receipts[0]
  if (duplicate) return { done: true, repeated: true, record: receipts[0].seq }
  try {
    const result = await act()
    await governor.settle(decision_id, { status: "ok", result })
    return { done: true, repeated: false, record: receipts[0].seq, result }
  } catch (cause) {
    await governor.settle(decision_id, { status: "error", result: { message: String(cause) } })
    throw cause
  }
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
  cause instanceof GovernorError ? { code: cause.code, message: cause.message, detail: cause.detail ?? null } : null
