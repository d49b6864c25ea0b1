/** A server of ours with a gateway, a loopback upstream that speaks each form, and official clients before it. */
import { Anthropic } from "@anthropic-ai/sdk"
import { type Governor, type GovernorOptions, memoryStorage, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { pinnedWebhooks } from "@flyball/node"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import OpenAI from "openai"
import { platform, type PlatformOptions, type Upstream } from "../../../packages/platform/src/index.ts"

/** Answers one request of the gateway. */
export type Script = (response: ServerResponse, body: any, request: IncomingMessage) => void

const listening = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const json =
  (value: unknown, status = 200): Script =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

/** Events, then an end; a function waits for what it answers. */
export const events =
  (...all: ReadonlyArray<unknown>): Script =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const one of all) {
      if (typeof one === "function") await one(response)
      else if (!response.destroyed) response.write(textOf(one))
    }
    response.end()
  }

export const textOf = (one: any): string =>
  one?.type === undefined
    ? `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`
    : `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`

/** An envelope that allows `read` and documents, denies `pay`, and asks people about `refund`. */
const envelope = {
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["read", "documents.extract", "pay", "refund"], source: "caller" } },
  effects: {
    read: "write_reversible",
    "documents.extract": "read",
    pay: "write_reversible",
    refund: "write_reversible"
  },
  rules: [
    { id: "reads", outcome: "allow", when: [{ signal: "tool", in: ["read", "documents.extract"] }] },
    {
      id: "refunds",
      outcome: "require_review",
      when: [{ signal: "tool", eq: "refund" }],
      obligations: [{ type: "reviewers", role: "reviewer", approvals: 1, ttl_ms: 3_600_000 }]
    }
  ],
  default: { outcome: "deny" }
}

const ann = { writer: `usr_${"0".repeat(25)}1` }
const ben = { writer: `usr_${"0".repeat(25)}2` }

/** Opens the world, in memory if nothing else is given. `script` is what the upstream does next. */
export const openWorld = async (
  more: PlatformOptions = {},
  { idleMs = 300, ...host }: Partial<Pick<GovernorOptions, "keys" | "storage">> & { readonly idleMs?: number } = {}
) => {
  const bodies: Array<string> = []
  const headers: Array<IncomingMessage["headers"]> = []
  const world = { script: json({}) as Script }
  const upstream = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece) => (text += piece))
    request.on("end", () => {
      bodies.push(text)
      headers.push(request.headers)
      world.script(response, JSON.parse(text), request)
    })
  })
  const base = await listening(upstream)
  const upstreams: Array<Upstream> = []
  const governor: Governor = await openGovernor({
    storage: memoryStorage(),
    ...host,
    log: () => undefined,
    webhooks: pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true }),
    capabilities: [platform({ ...more, usdInr: 80, gateway: { upstreams, reviewWaitMs: 5_000 } })]
  })
  const model = await governor.models.create({
    provider: "acme",
    name: "m",
    price: { input_micro_usd_per_mtok: 1_000_000, output_micro_usd_per_mtok: 2_000_000 }
  })
  const of = { model: "m", baseUrl: base, sealedSecret: null, modelId: model.id, timeoutMs: idleMs, idleMs }
  upstreams.push({ ...of, forms: ["chat", "responses", "messages"] })
  const { agent } = await governor.agents.register({
    name: "clerk",
    org_unit: "ops",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  const { id } = await governor.envelopes.create({ name: "tools", agent_id: agent.id, envelope } as never, ann)
  await governor.envelopes.publish(id, {}, ben)
  await governor.agents.update(agent.id, { autonomy_tier: "L2" }, ben)
  await governor.agents.activate(agent.id, ben)
  const { key } = await governor.platformKeys.mint({ name: "k", org_unit: "ops", plan: "starter", scopes: ["*"] })
  const server = createServer(openHttp(governor).node)
  const url = await listening(server)
  const named = { "X-Flyball-Agent": agent.id }
  const usage = async (): Promise<number> => {
    const response = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
    return ((await response.json()) as any).tokens_used
  }
  return Object.assign(world, {
    governor,
    agentId: agent.id,
    modelId: model.id,
    key,
    url,
    upstream: base,
    bodies,
    headers,
    usage,
    reviewer: ben,
    openai: new OpenAI({ apiKey: key, baseURL: `${url}/v1/gateway`, defaultHeaders: named, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: key, baseURL: `${url}/v1/gateway`, defaultHeaders: named, maxRetries: 0 }),
    /** Decisions of the gateway, oldest first. */
    decisions: async () => (await governor.decisions(agent.id)).toReversed(),
    close: async () => {
      server.closeAllConnections()
      upstream.closeAllConnections()
      server.close()
      upstream.close()
      await governor.close()
    }
  })
}
