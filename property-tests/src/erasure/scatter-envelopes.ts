/** A person's text in envelopes, in exceptions to them, and in evaluations under them. */
import type { Callers, Marker } from "./person.ts"
import { expecting } from "./person.ts"

/**
 * An envelope with the text wherever one may stand: a value of a signal, a rule's reason, what is suggested instead,
 * and what findings and differences then show.
 */
const envelopeOf = (text: string, most: number): object => ({
  semantics: "envelope/1",
  name: text,
  signals: {
    tool: { type: "enum", values: ["find", "pay"], source: "caller" },
    about: { type: "enum", values: [text, "nobody"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "caller", on_missing: 0 }
  },
  params: { who: text },
  effects: { find: "read", pay: "write_reversible" },
  meters: { requests: { op: "count", window_ms: 60_000, key: ["agent_id", "about"] } },
  rules: [
    {
      id: "known",
      outcome: "allow",
      reason: `because ${text}`,
      when: [
        { signal: "about", eq: text },
        { signal: "amount", lte: most },
        { meter: "requests", after_lte: 50 }
      ]
    },
    {
      id: "unusual",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "pay" },
        { signal: "amount", eq: 77 }
      ]
    },
    {
      id: "never",
      outcome: "deny",
      reason: text,
      suggestion: `Ask ${text}.`,
      when: [
        { signal: "tool", eq: "pay" },
        { signal: "amount", gt: most }
      ]
    }
  ],
  default: { outcome: "deny" }
})

/**
 * Drafts, publishes, tries out and withdraws; asks, takes back; asks for exceptions and has them granted. What the
 * person wrote somebody else approves.
 */
export const scatterEnvelopes = async ({ other, person }: Callers, { plain, text }: Marker): Promise<void> => {
  const done = expecting(person)
  const approved = expecting(other)
  const { id: agentId } = await done<Made>(
    "POST",
    "/agents",
    { name: "bounded", org_unit: "support", owner_name: "Ada", owner_email: "a@example.com" },
    201
  )
  const { id } = await done<Made>(
    "POST",
    "/bound/envelopes",
    { name: text, agent_id: agentId, envelope: envelopeOf(text, 100) },
    201
  )
  const at = `/bound/envelopes/${id}`
  await done("POST", "/bound/envelopes", { name: text, org_unit: "another unit", envelope: envelopeOf(text, 100) }, 201)
  await done("POST", `${at}/lint`, { envelope: envelopeOf(`${text} or so`, 5) }, 200)
  await approved("POST", `${at}/publish`, {}, 200)
  // Under a tier that leaves the verdict to the envelope's own rules.
  await done("PATCH", `/agents/${agentId}`, { autonomy_tier: "L2" }, 200)
  await done("POST", `/agents/${agentId}/activate`, undefined, 200)

  const ask = (client_ref: string, signals: object, status = 201): Promise<Made> =>
    done("POST", "/bound/evaluations", { agent_id: agentId, client_ref, action: plain, signals }, status)
  const allowed = await ask("e/0", { tool: "find", about: text, amount: 1 })
  await ask("e/0", { tool: "find", about: text, amount: 2 }, 409)
  const denied = await ask("e/1", { tool: "pay", about: text, amount: 500 })
  await ask("e/2", { tool: "pay", about: `unknown ${text}`, [text]: text })
  await done("POST", `/bound/evaluations/${denied.id}/explain`, undefined, 200)
  await done("POST", `/bound/evaluations/${allowed.id}/void`, { reason: text }, 201)

  const reviewed = async (client_ref: string): Promise<string> => {
    const signals = { tool: "pay", about: text, amount: 77 }
    const body = { agent_id: agentId, client_ref, action: plain, args: { to: text }, signals }
    return (await done<Made>("POST", "/bound/evaluations", body, 201)).id.replace("evl_", "rev_")
  }
  const review = await reviewed("r/1")
  await done("POST", `/bound/reviews/${review}/resolve`, { resolution: "approve", reason: text }, 403)
  await approved("GET", `/bound/reviews/${review}`, undefined, 200)
  await approved("POST", `/bound/reviews/${review}/resolve`, { resolution: "reject", reason: text }, 200)
  await done("POST", `/bound/reviews/${await reviewed("r/2")}/withdraw`, { reason: text }, 200)

  const standing = {
    review_id: await reviewed("r/3"),
    pins: [
      { path: "/signals/about", eq: text },
      { path: "/signals/amount", eq: 77 },
      { path: "/args/to", one_of: [text, plain] }
    ],
    count: 2,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    reason: text
  }
  await approved("POST", `/bound/reviews/${standing.review_id}/resolve`, { resolution: "approve" }, 200)
  const proposed = await approved<Made>("POST", "/bound/standing-approvals", standing, 201)
  // Who wrote the envelope may not grant it either.
  await done("POST", `/bound/standing-approvals/${proposed.id}/grant`, undefined, 403)
  await reviewed("r/4")
  await approved("POST", `/bound/standing-approvals/${proposed.id}/revoke`, { reason: text }, 200)

  const waiver = {
    rule_id: "never",
    unless: [{ signal: "about", eq: text }],
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    reason: text
  }
  const requests = await done<Made>("POST", `${at}/waivers`, waiver, 201)
  await approved("POST", `${at}/waivers/${requests.id}/grant`, undefined, 200)
  await done("POST", `${at}/waivers`, { ...waiver, reason: `again ${text}` }, 201)
  await ask("e/3", { tool: "pay", about: text, amount: 400 })

  await done("PATCH", at, { envelope: envelopeOf(text, 200) }, 200)
  await done("GET", `${at}/diff?from=1&to=0`, undefined, 200)
  await done("POST", `${at}/backtest`, { meters: "recorded" }, 200)
  await approved("POST", `${at}/publish`, { mode: "shadow" }, 200)
  await ask("e/4", { tool: "pay", about: text, amount: 150 })
  await approved("POST", `${at}/publish`, {}, 200)
  await done("PATCH", at, { envelope: envelopeOf(text, 300) }, 200)
  await done("PATCH", at, { envelope: { ...envelopeOf(text, 300), [text]: text } }, 200)
  await done("POST", `${at}/publish`, {}, 409)
  const params = { max_count: 1 }
  const breaker = await done<Made>(
    "POST",
    `/bound/agents/${agentId}/breakers`,
    { name: "errors", metric: "consecutive_failures", params, mode: "shadow" },
    201
  )
  const failed = { client_ref: "b/1", kind: "tool_call", action: "pay", status: "error" }
  await done("POST", `/agents/${agentId}/decisions`, failed, 201)
  await done("POST", "/bound/breakers/check", undefined, 200)
  await done("POST", `/bound/breakers/${breaker.id}/release`, { reason: text }, 200)
  const halted = await done<{ readonly activation_event: string }>(
    "POST",
    "/bound/kill/activate",
    { target_type: "agent", target_id: agentId, reason: text },
    201
  )
  await approved("POST", "/bound/kill/request", { agent_id: agentId, reason: text }, 201)
  const { activation_event } = halted
  await done("POST", "/bound/kill/release", { activation_event, reason: `again ${text}` }, 200)
  const drill = { target_type: "agent", target_id: agentId, mode: "shadow", scenario: text, slo_ms: 1_000 }
  const { id: drillId } = await done<Made>("POST", "/bound/kill/drills", drill, 201)
  await done("POST", `/bound/kill/drills/${drillId}/complete`, undefined, 200)
  await done("POST", `${at}/withdraw`, { reason: text }, 200)
}

interface Made {
  readonly id: string
}
