/** A person's data on its way through a server: everywhere a caller can put a text. */
import type { RunningServer } from "../../../apps/server/src/cli/testing/commands.ts"
import { scatterEnvelopes } from "./scatter-envelopes.ts"
import { scatterFairness } from "./scatter-fairness.ts"
import { scatterDocuments } from "./scatter-documents.ts"
import { scatterRoutes } from "./scatter-routes.ts"
import { scatterWebhooks } from "./scatter-webhooks.ts"
import { scatterMonitors } from "./scatter-monitors.ts"
import { scatterWorkflows } from "./scatter-workflows.ts"

/** A caller with a token, so that many calls need one. */
export type Call = (
  method: string,
  path: string,
  body?: unknown
) => Promise<{ readonly status: number; readonly text: string }>

/** Calls the server with this token: the governance API, or a path of `/v1`. */
export const callerOf =
  (server: RunningServer, token: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${server.url}${path.startsWith("/v1/") ? "" : "/api/v1"}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, text: await response.text() }
  }

/** Calls, and expects this status. Answers the JSON, null where there is none. */
export const expecting =
  (call: Call) =>
  async <A>(method: string, path: string, body: unknown, status: number): Promise<A> => {
    const answer = await call(method, path, body)
    if (answer.status !== status)
      throw new Error(`Expected ${status} of ${method} ${path}, saw ${answer.status}: ${answer.text.slice(0, 500)}`)
    return (answer.text.startsWith("{") || answer.text.startsWith("[") ? JSON.parse(answer.text) : null) as A
  }

/** The callers who scatter: the person, and somebody else who approves what the person wrote. */
export interface Callers {
  readonly person: Call
  readonly other: Call
}

/** A text to search for, and its form where only plain ASCII may stand. A search for the second finds the first too. */
export interface Marker {
  readonly text: string
  readonly plain: string
}

/**
 * Puts the marker wherever a text may go: agents, keys, the mapping, what agents are made of, envelopes and what is
 * done under them, webhooks that fail, decisions alone and in a
 * batch, small and over many pages, outcomes, requests that are refused, look-ups, and packs that disclose it.
 * `failing`: the address of a receiver that takes nothing.
 */
export const scatter = async (callers: Callers, marker: Marker, failing: string): Promise<void> => {
  const { person: call } = callers
  const done = expecting(call)
  await scatterAccess(callers, marker)
  // First, so that it gets every event that follows.
  const giveUp = await scatterWebhooks(call, marker, failing)
  await scatterAgents(call, marker)
  await scatterEnvelopes(callers, marker)
  await scatterWorkflows(callers, marker)
  await scatterFairness(callers, marker)
  await scatterMonitors(callers, marker)
  await scatterDocuments(callers, marker)
  await scatterRoutes(callers, marker)
  await giveUp()
  await call("GET", `/agents?name=${encodeURIComponent(marker.text)}`)
  await call("GET", `/agents/${encodeURIComponent(marker.text)}`)
  const pack = await done<{ readonly id: string }>("POST", "/evidence/packs", { kind: "full", disclose: "all" }, 201)
  const download = await call("GET", `/evidence/packs/${pack.id}`)
  if (
    !download.text.includes(Buffer.from(marker.text).toString("base64").slice(0, 8)) &&
    !download.text.includes(marker.text)
  )
    throw new Error("The pack was to disclose the text.")
}

/** Keys, who becomes what here, and who is written to. */
const scatterAccess = async ({ person }: Callers, { plain, text }: Marker): Promise<void> => {
  const done = expecting(person)
  const row = { scope: "default", trigger: "drift", response: "notify", notify: [`${plain}@example.com`] }
  await done("PUT", "/bound/response-policy", [row], 200)
  await done("POST", "/admin/ingest-keys", { name: text, org_unit: "support" }, 201)
  const key = { name: text, org_unit: "support", plan: "free", scopes: ["*"] }
  await done("POST", "/admin/platform-keys", key, 201)
  const rules = [{ match: { claim: "groups", value: text }, role: "admin", org_unit: "*" }]
  await done("PUT", "/admin/entitlement-rules", { rules, trust_canonical: true }, 200)
  await done("POST", "/admin/entitlement-rules/resolve-draft", { rules, groups: [text] }, 200)
}

/** Agents, what people say of them, and what they do. */
const scatterAgents = async (call: Call, { text }: Marker): Promise<void> => {
  const done = expecting(call)
  const large = `${"before ".repeat(10_000)}${text}${" behind".repeat(10_000)}`
  const agent = await done<{ readonly id: string }>(
    "POST",
    "/agents",
    {
      name: `bot of ${text}`,
      description: text,
      owner_name: text,
      owner_email: "a@example.com",
      org_unit: "support",
      purpose: large.slice(68_500, 71_500),
      labels: { [text]: text }
    },
    201
  )
  const at = `/agents/${agent.id}`
  await done("POST", `${at}/identity`, { declared_source: text, declared_ref: `of ${text}` }, 201)
  await done("POST", `${at}/identity`, { signed_card: a2aCard(text) }, 201)
  await done(
    "POST",
    `${at}/provenance`,
    { kind: "prompt", name: text, version: text, uri: `https://example.com/${text}`, supplier: text, sbom_ref: text },
    201
  )
  await done("PATCH", at, { purpose: `other ${text}`, labels: { [text]: text } }, 200)
  await done("POST", `${at}/transfer-ownership`, { owner_name: `heir ${text}`, owner_email: "b@example.com" }, 200)
  await done("POST", `${at}/activate`, undefined, 200)
  await done("POST", `${at}/suspend`, { reason: text }, 200)
  const shown = { args: { text, [text]: [text] }, result: large, labels: { about: text }, signals: { about: text } }
  const whole = { action: "find", status: "ok", ...shown }
  const one = await done<Receipts>("POST", `${at}/decisions`, { ...whole, client_ref: "a/0" }, 201)
  await done(
    "POST",
    `${at}/decisions`,
    { decisions: Array.from({ length: 2 }, (_, n) => ({ ...whole, args: `${n} ${text}`, client_ref: `b/${n}` })) },
    201
  )
  await done(
    "POST",
    `/decisions/${one.receipts[0]!.decision_id}/settle`,
    { status: "ok", result: { said: large } },
    201
  )
  await done("POST", `${at}/decisions`, { ...whole, client_ref: "c/0", kind: text }, 422)
  await done("POST", `${at}/decisions`, { ...whole, client_ref: "c/1", [text]: text }, 422)
  await done("POST", `${at}/decisions`, { ...whole, client_ref: "a/0", args: `other ${text}` }, 409)
  await done("POST", `${at}/decisions`, { client_ref: "a/0", decisions: text }, 422)
  await done(
    "POST",
    "/evals/eval-runs",
    {
      agent_id: agent.id,
      suite: text,
      suite_digest: `sha256:${"0a".repeat(32)}`,
      agent_version: text,
      cases: [{ id: text, outcomes: ["passed"] }]
    },
    201
  )
  await done(
    "POST",
    "/fairness/screens",
    { agent_id: agent.id, group: "/about", outcome: { path: `/${text}`, positive: [text] } },
    201
  )
  const manifest = { instructions: text, tools: [{ name: "find", description: text }] }
  await done("POST", "/fairness/mcp-manifests", { agent_id: agent.id, tool_server: "files", manifest }, 201)
  const other = { ...manifest, tools: [{ name: "find", description: `other ${text} again` }] }
  await done("POST", "/fairness/mcp-manifests", { agent_id: agent.id, tool_server: "files", manifest: other }, 201)
  const { findings } = await done<{ readonly findings: ReadonlyArray<{ readonly id: string }> }>(
    "GET",
    "/fairness/mcp-screen",
    undefined,
    200
  )
  await done("POST", `/fairness/findings/${findings[0]!.id}/resolve`, { resolution: "approved", reason: text }, 200)
  await done("POST", `${at}/disown`, { reason: text }, 200)
}

/** A card by a key that nobody here knows, and which is called after the person. */
const a2aCard = (text: string): { readonly card: string } => {
  const header = Buffer.from(JSON.stringify({ alg: "EdDSA", kid: text })).toString("base64url")
  return {
    card: Buffer.from(JSON.stringify({ name: text, signatures: [{ protected: header, signature: "AAAA" }] })).toString(
      "base64"
    )
  }
}

interface Receipts {
  readonly receipts: ReadonlyArray<{ readonly decision_id: string }>
}
