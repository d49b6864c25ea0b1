/** A good request for every endpoint: what the tests of access and of bad input start from. */
import type { McpServer } from "@flyball/contract"
import type { AnyEndpoint } from "@flyball/contract/http"
import { AccessMapping, Principals, systemHost, ToolServers, Webhooks } from "@flyball/core"
import { Effect } from "effect"
import { UNIT, type World } from "./http-world.ts"
import { paymentsUpTo } from "./testing/payments.ts"
import { proposedStanding } from "./testing/standing-approval.ts"

/** A request that its endpoint takes. */
export interface GoodRequest {
  readonly path: string
  /** Null for endpoints without a body; a list where the body is one. */
  readonly json: { readonly [name: string]: unknown } | ReadonlyArray<{ readonly [name: string]: unknown }> | null
}

/** Endpoints whose body is a list of objects. */
export const listBodies: ReadonlySet<string> = new Set(["bound.set_response_policy"])

/** A body with members changed; those of the first item where the body is a list. */
export const withMembers = (
  json: GoodRequest["json"],
  change: (members: { readonly [name: string]: unknown }) => { readonly [name: string]: unknown }
): GoodRequest["json"] =>
  Array.isArray(json)
    ? [change(json[0]), ...json.slice(1)]
    : change((json ?? {}) as { readonly [name: string]: unknown })

/** A small envelope. */
const envelope = paymentsUpTo(10, "allow")
/** An exception to it. */
const waiver = {
  rule_id: "small",
  unless: [{ signal: "amount", eq: 7 }],
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  reason: "Seven is settled by hand."
}

/** Requests that change the envelope they are about, so that each has one of its own. */
const own = new Set(["publish", "update_envelope", "withdraw", "grant_waiver"].map((act) => `bound.${act}`))

const acts = new Set(
  ["activate", "suspend", "decommission", "recertify", "transfer_ownership", "disown"].map((act) => `agents.${act}`)
)

let count = 0
const fresh = (): string => `n${count++}`

/** Makes what the good requests are about: an agent with decisions, a pack, a key to revoke. */
export const goodRequests = async (world: World) => {
  const agent = await world.register(fresh())
  const witness = async (): Promise<{ readonly decision_id: string; readonly seq: number }> =>
    (
      await world.send("POST", `/api/v1/agents/${agent}/decisions`, {
        token: world.admin,
        json: { client_ref: fresh(), action: "pay", args: { to: "x" } }
      })
    ).json.receipts[0]
  const pack: string = (
    await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })
  ).json.id

  const author = await world.token("governor", "*", "author of envelopes")
  const approver = await world.token("governor", "*", "approver of envelopes")
  const as = async (
    token: string,
    method: string,
    path: string,
    json: unknown = {}
  ): Promise<{ readonly id: string }> => {
    const got = await world.send(method, `/api/v1${path}`, { token, json })
    if (got.status >= 300) throw new Error(`${method} ${path}: ${got.text}`)
    return got.json
  }
  /**
   * An envelope of an agent of its own, with a version in force and another draft, by somebody who is none of the
   * callers.
   */
  const envelopeInForce = async (): Promise<string> => {
    const { id } = await as(author, "POST", "/bound/envelopes", {
      name: fresh(),
      agent_id: await world.register(fresh()),
      envelope
    })
    await as(approver, "POST", `/bound/envelopes/${id}/publish`)
    await as(author, "PATCH", `/bound/envelopes/${id}`, {
      envelope: { ...envelope, rules: [{ ...envelope.rules[0]!, outcome: "require_review" }] }
    })
    return id
  }
  const requestedWaiver = async (envelopeId: string): Promise<string> =>
    (await as(author, "POST", `/bound/envelopes/${envelopeId}/waivers`, waiver)).id
  let shared: Promise<string> | null = null
  const evaluated = async (): Promise<string> =>
    (await as(world.admin, "POST", "/bound/evaluations", { agent_id: agent, client_ref: fresh(), signals: {} })).id
  let spender: Promise<string> | null = null
  const spending = async (): Promise<string> => {
    const id = await world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
    const metered = {
      ...envelope,
      meters: { requests: { op: "count", window_ms: 60_000, key: ["agent_id"] } },
      rules: [...envelope.rules, { id: "often", outcome: "deny", when: [{ meter: "requests", after_gt: 1_000 }] }]
    }
    const { id: envelopeId } = await as(author, "POST", "/bound/envelopes", {
      name: fresh(),
      agent_id: id,
      envelope: metered
    })
    await as(approver, "POST", `/bound/envelopes/${envelopeId}/publish`)
    await as(author, "PATCH", `/agents/${id}`, { autonomy_tier: "L2" })
    await as(author, "POST", `/agents/${id}/activate`)
    return id
  }
  /** An evaluation that let something through, and added it to a meter. */
  const counted = async (): Promise<string> => {
    const id = await (spender ??= spending())
    return (
      await as(world.admin, "POST", "/bound/evaluations", {
        agent_id: id,
        client_ref: fresh(),
        signals: { tool: "pay", amount: 3 }
      })
    ).id
  }

  /** An activation of an agent of its own. */
  const halted = async (): Promise<string> => {
    const body = { target_type: "agent", target_id: await world.register(fresh()), reason: "Pays twice." }
    const got = await world.send("POST", "/api/v1/bound/kill/activate", { token: world.admin, json: body })
    return got.json.activation_event
  }

  const breaker = { metric: "error_rate", params: { window_ms: 3_600_000, min_samples: 1, threshold_bp: 5_000 } }

  /** A breaker of an agent of its own. */
  const armed = async (of?: string): Promise<string> => {
    const agentId = of ?? (await world.register(fresh()))
    return (await as(world.admin, "POST", `/bound/agents/${agentId}/breakers`, { name: fresh(), ...breaker })).id
  }

  /** One that tripped. */
  const tripped = async (): Promise<string> => {
    const agentId = await world.register(fresh())
    const id = await armed(agentId)
    const decision = { client_ref: fresh(), kind: "tool_call", action: "pay", status: "error" }
    await as(world.admin, "POST", `/agents/${agentId}/decisions`, decision)
    await as(world.admin, "POST", "/bound/breakers/check")
    return id
  }
  let reviewing: Promise<string> | null = null
  const underReview = async (): Promise<string> => {
    const id = await world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
    const { id: envelopeId } = await as(author, "POST", "/bound/envelopes", {
      name: fresh(),
      agent_id: id,
      envelope: { ...envelope, rules: [{ ...envelope.rules[0]!, outcome: "require_review" }] }
    })
    await as(approver, "POST", `/bound/envelopes/${envelopeId}/publish`)
    await as(author, "PATCH", `/agents/${id}`, { autonomy_tier: "L2" })
    await as(author, "POST", `/agents/${id}/activate`)
    return id
  }
  /** A review that an agent's own key requested, or whose token it is. */
  const review = async (token: string): Promise<string> => {
    const made = await as(token, "POST", "/bound/evaluations", {
      agent_id: await (reviewing ??= underReview()),
      client_ref: fresh(),
      action: "pay",
      // The same payment would be the same review.
      args: { to: fresh(), amount: 3 },
      signals: { tool: "pay", amount: 3 }
    })
    return made.id.replace("evl_", "rev_")
  }

  /** A drill of an agent of its own, by somebody who is none of the callers. `completed`: it can be attested. */
  const drill = async (completed: boolean): Promise<string> => {
    const agentId = await world.register(fresh())
    const body = { target_type: "agent", target_id: agentId, scenario: "It pays twice.", slo_ms: 5_000 }
    const started = (await as(author, "POST", "/bound/kill/drills", body)) as {
      readonly id: string
      readonly activation_event: string
    }
    if (completed) {
      await as(world.admin, "POST", "/bound/kill/ack", {
        activation_event: started.activation_event,
        instance_id: "one"
      })
      await as(author, "POST", `/bound/kill/drills/${started.id}/complete`)
    }
    return started.id
  }

  const webhook = async (): Promise<string> =>
    (
      await as(world.admin, "POST", "/webhooks", {
        url: "https://hooks.example.org/flyball",
        events: ["agent.decommissioned"]
      })
    ).id
  /** A delivery at its end: cancelled, as the webhook was disabled and enabled again. */
  const finishedDelivery = async (webhookId: string): Promise<string> => {
    const agentId = await world.register(fresh())
    await as(world.admin, "POST", `/agents/${agentId}/decommission`)
    const [delivery] = await world.runtime.runPromise(
      Webhooks.use((webhooks) =>
        Effect.andThen(
          Effect.andThen(webhooks.disable(webhookId, systemHost), webhooks.enable(webhookId, systemHost)),
          webhooks.deliveries(webhookId)
        )
      )
    )
    return delivery!.id
  }

  /** A tool server, whose list changes `changes` times. */
  const toolServer = (changes = 0): Promise<McpServer> => {
    const name = fresh()
    const send = (at: number) =>
      ToolServers.use((servers) =>
        servers.upload({ agent_id: agent, tool_server: name, manifest: { tools: [{ name: `t${at}` }] } }, systemHost)
      )
    return world.runtime.runPromise(changes === 0 ? send(0) : Effect.andThen(send(0), send(1)))
  }
  const openFinding = async (): Promise<string> => {
    const { id } = await toolServer(1)
    const { findings } = await world.runtime.runPromise(ToolServers.use((servers) => servers.screen()))
    return findings.find((one) => one.server_id === id)!.id
  }

  const mappedNow = async (): Promise<ReadonlyArray<object>> =>
    (await world.runtime.runPromise(AccessMapping.use(({ get }) => get))).rules

  /** `orgUnit`: that of the caller, which may only register and mint in its own. */
  return async (endpoint: AnyEndpoint, orgUnit: string = UNIT): Promise<GoodRequest> => {
    const unit = orgUnit === "*" ? UNIT : orgUnit
    const bodies: { readonly [id: string]: () => Promise<GoodRequest["json"]> | GoodRequest["json"] } = {
      "agents.create": () => ({ name: fresh(), org_unit: unit }),
      "agents.update": () => ({ purpose: fresh() }),
      "agents.suspend": () => ({ reason: "unusual refunds" }),
      "agents.recertify": () => ({ recert_due_at: "2099-01-01T00:00:00Z" }),
      "agents.transfer_ownership": () => ({ owner_name: "Grace", owner_email: "grace@example.org" }),
      "agents.attach_identity": () => ({ declared_source: "spiffe", declared_ref: "spiffe://example.org/courier" }),
      "agents.disown": () => ({ reason: "left the house" }),
      "decisions.witness": () => ({ client_ref: fresh(), action: "pay", args: { to: "x" } }),
      "decisions.settle": () => ({ status: "ok" }),
      "decisions.gap": () => ({ from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:01:00Z", count: 3, reason: "crash" }),
      "decisions.end_instance": () => ({ instance_id: "pod-1" }),
      "bound.create_envelope": async () => ({ name: fresh(), agent_id: await world.register(fresh()), envelope }),
      "bound.update_envelope": () => ({ envelope }),
      "bound.lint": () => ({}),
      "bound.publish": () => ({}),
      "bound.withdraw": () => ({ reason: "The case is under review." }),
      "bound.backtest": () => ({ meters: "recorded" }),
      "bound.request_waiver": () => waiver,
      "bound.evaluate": () => ({
        agent_id: agent,
        client_ref: fresh(),
        signals: { tool: "pay", amount: 3 },
        action: "pay"
      }),
      "bound.void_evaluation": () => ({ reason: "Not done." }),
      // Nobody here approved it.
      "standing_approvals.propose": () => ({
        review_id: `rev_${"0".repeat(26)}`,
        pins: [{ path: "/signals/amount", at_most: 10 }],
        count: 3,
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        reason: "Small payments"
      }),
      "standing_approvals.revoke": () => ({ reason: "Enough." }),
      "kill.activate": async () => ({
        target_type: "agent",
        target_id: await world.register(fresh()),
        reason: "Pays twice."
      }),
      "kill.ack": async () => ({ activation_event: await halted(), instance_id: fresh() }),
      "kill.request": () => ({ agent_id: agent, reason: "I pay twice." }),
      "kill.release": async () => ({ activation_event: await halted(), reason: "Repaired." }),
      "breakers.arm": () => ({ name: fresh(), ...breaker }),
      "breakers.preview": () => ({ name: fresh(), mode: "shadow", ...breaker }),
      "breakers.update": () => ({ mode: "warn" }),
      "breakers.release": () => ({ reason: "Repaired." }),
      "reviews.claim": () => ({ give_back: false }),
      "reviews.withdraw": () => ({ reason: "It was paid by hand." }),
      "reviews.resolve": async () => ({ resolution: "approve", reason: "It is due." }),
      "kill.start_drill": async () => ({
        target_type: "agent",
        target_id: await world.register(fresh()),
        scenario: "It pays twice.",
        slo_ms: 5_000
      }),
      "chain.erase": async () => ({ seq: (await witness()).seq, name: "args", reason: "security" }),
      "evidence.create": () => ({ kind: "sparse", agent_id: unit === UNIT ? agent : null }),
      "evals.record": () => ({
        agent_id: agent,
        suite: "refund policy",
        suite_digest: `sha256:${"0a".repeat(32)}`,
        cases: [{ id: "a", outcomes: ["passed"] }]
      }),
      "mcp.upload": () => ({ agent_id: agent, tool_server: fresh(), manifest: { tools: [] } }),
      "mcp.pin": async () => {
        const { id, manifest_digest } = await toolServer()
        return { server_id: id, manifest_digest }
      },
      "mcp.resolve": () => ({ resolution: "approved" }),
      "fairness.screen": () => ({ agent_id: agent, group: "/sex", outcome: { path: "/hired", positive: [true] } }),
      "models.create": () => ({ provider: "openai", name: fresh() }),
      "models.update": () => ({ status: "restricted" }),
      "agents.add_provenance": () => ({ kind: "prompt", name: fresh() }),
      // What the mapping says already stays: other callers live by it.
      "access_mapping.set": async () => ({
        rules: [...(await mappedNow()), { match: { claim: "groups", value: fresh() }, role: "admin", org_unit: "*" }]
      }),
      "bound.set_response_policy": () => [
        { scope: "tier", target: "L2", trigger: "breaker", response: "drain", notify: ["ada@example.org"] }
      ],
      "access_mapping.resolve_draft": () => ({ rules: [], roles: ["x"] }),
      "ingest_keys.mint": () => ({ name: fresh(), org_unit: unit }),
      "platform_keys.mint": () => ({ name: fresh(), org_unit: unit, plan: "growth", scopes: ["usage:read"] }),
      "webhooks.create": () => ({ url: "https://hooks.example.org/flyball", events: ["agent.suspended"] }),
      "webhooks.rotate_secret": () => ({ overlap_hours: 1 }),
      "webhooks.recover": () => ({ since: new Date(Date.now() - 3_600_000).toISOString() })
    }
    const values: { readonly [name: string]: () => Promise<string> | string } = {
      // An act moves its agent on, so each request has one of its own.
      agent_id: () =>
        acts.has(endpoint.id)
          ? world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
          : agent,
      decision_id: async () => (await witness()).decision_id,
      envelope_id: () => (own.has(endpoint.id) ? envelopeInForce() : (shared ??= envelopeInForce())),
      version: () => "1",
      waiver_id: () => requestedWaiver(path.split("/")[5]!),
      evaluation_id: () => (endpoint.id === "bound.void_evaluation" ? counted() : evaluated()),
      review_id: () => review(endpoint.id === "reviews.withdraw" ? world.admin : world.key),
      standing_approval_id: async () =>
        proposedStanding(
          world,
          await world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
        ),
      drill_id: () => drill(endpoint.id === "kill.attest_drill"),
      seq: async () => (endpoint.id === "chain.part" ? String((await witness()).seq) : "1"),
      name: () => "args",
      principal_id: async () =>
        (await world.runtime.runPromise(Principals.use(({ writerFor }) => writerFor("https://id.example", "ada")))).id,
      pack_id: () => pack,
      finding_id: openFinding,
      model_id: async () =>
        (
          await world.send("POST", "/api/v1/models", {
            token: world.admin,
            json: { provider: "openai", name: fresh() }
          })
        ).json.id,
      key_id: async () => (await world.mint(UNIT)).id,
      platform_key_id: async () =>
        (
          await world.send("POST", "/api/v1/admin/platform-keys", {
            token: world.admin,
            json: { name: fresh(), org_unit: UNIT, plan: "growth", scopes: ["*"] }
          })
        ).json.id,
      activation_id: halted,
      breaker_id: () => (endpoint.id === "breakers.release" ? tripped() : armed()),
      webhook_id: webhook,
      delivery_id: () => finishedDelivery(path.split("/")[4]!)
    }
    const queries: { readonly [id: string]: string } = {
      "bound.evaluations": `?agent_id=${agent}`,
      "kill.status": `?target_type=agent&target_id=${agent}`,
      "kill.stream": `?target_type=agent&target_id=${agent}`,
      "chain.consistency": "?from=1&to=2"
    }
    let path: string = endpoint.path
    for (const name of Object.keys(endpoint.params)) path = path.replace(`{${name}}`, await values[name]!())
    return { path: path + (queries[endpoint.id] ?? ""), json: (await bodies[endpoint.id]?.()) ?? null }
  }
}
