/** A good request for every endpoint: what the tests of access and of bad input start from. */
import type { AnyEndpoint } from "@flyball/contract/http"
import { UNIT, type World } from "./http-world.ts"

/** A request that its endpoint takes. */
export interface GoodRequest {
  readonly path: string
  /** Null for endpoints without a body. */
  readonly json: { readonly [name: string]: unknown } | null
}

const acts = new Set(["activate", "suspend", "decommission", "recertify", "transfer_ownership", "disown"].map((act) => `agents.${act}`))

let count = 0
const fresh = (): string => `n${count++}`

/** Makes what the good requests are about: an agent with decisions, a pack, a key to revoke. */
export const goodRequests = async (world: World) => {
  const agent = await world.register(fresh())
  const witness = async (): Promise<{ readonly decision_id: string; readonly seq: number }> =>
    (await world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: world.admin, json: { client_ref: fresh(), action: "pay", args: { to: "x" } } })).json.receipts[0]
  const pack: string = (await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })).json.id

  /** `orgUnit`: that of the caller, which may only register and mint in its own. */
  return async (endpoint: AnyEndpoint, orgUnit: string = UNIT): Promise<GoodRequest> => {
    const unit = orgUnit === "*" ? UNIT : orgUnit
    const bodies: { readonly [id: string]: () => Promise<GoodRequest["json"]> | GoodRequest["json"] } = {
      "agents.create": () => ({ name: fresh(), org_unit: unit }),
      "agents.update": () => ({ purpose: fresh() }),
      "agents.suspend": () => ({ reason: "looked odd" }),
      "agents.recertify": () => ({ recert_due_at: "2099-01-01T00:00:00Z" }),
      "agents.transfer_ownership": () => ({ owner_name: "Grace", owner_email: "grace@example.org" }),
      "agents.attach_identity": () => ({ declared_source: "spiffe", declared_ref: "spiffe://example.org/courier" }),
      "agents.disown": () => ({ reason: "left the house" }),
      "decisions.witness": () => ({ client_ref: fresh(), action: "pay", args: { to: "x" } }),
      "decisions.settle": () => ({ status: "ok" }),
      "decisions.gap": () => ({ from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:01:00Z", count: 3, reason: "crash" }),
      "chain.erase": async () => ({ seq: (await witness()).seq, name: "args", reason: "security" }),
      "evidence.create": () => ({ kind: "sparse", agent_id: unit === UNIT ? agent : null }),
      "models.create": () => ({ provider: "openai", name: fresh() }),
      "models.update": () => ({ status: "restricted" }),
      "agents.add_provenance": () => ({ kind: "prompt", name: fresh() }),
      "access_mapping.set": () => ({ rules: [{ match: { claim: "groups", value: fresh() }, role: "admin", org_unit: "*" }] }),
      "access_mapping.resolve_draft": () => ({ rules: [], roles: ["x"] }),
      "ingest_keys.mint": () => ({ name: fresh(), org_unit: unit })
    }
    const values: { readonly [name: string]: () => Promise<string> | string } = {
      // An act moves its agent on, so each request has one of its own.
      agent_id: () => acts.has(endpoint.id) ? world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" }) : agent,
      decision_id: async () => (await witness()).decision_id,
      seq: () => "1",
      pack_id: () => pack,
      model_id: async () => (await world.send("POST", "/api/v1/models", { token: world.admin, json: { provider: "openai", name: fresh() } })).json.id,
      key_id: async () => (await world.mint(UNIT)).id
    }
    const queries: { readonly [id: string]: string } = { "chain.consistency": "?from=1&to=2" }
    let path: string = endpoint.path
    for (const name of Object.keys(endpoint.params)) path = path.replace(`{${name}}`, await values[name]!())
    return { path: path + (queries[endpoint.id] ?? ""), json: (await bodies[endpoint.id]?.()) ?? null }
  }
}

