/** The demo's chapter on the gateway: an official client's completion that a halt cuts in its midst. */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import OpenAI from "openai"
import { type RunningServer, upstreamsFile } from "./server.ts"

/** Result of this step. */
export interface Cut {
  readonly agent: string
  /** The text that the client had when the halt came, and in the end. */
  readonly before: string
  readonly after: string
  readonly finish: string | null
  /** Tokens of the month: reserved while the answer ran, and settled once it was cut. */
  readonly reserved: number
  readonly settled: number
  /** How its record came about, and its status. */
  readonly recorded: string
  /** The refusal that a halted agent gets. */
  readonly refused: string
}

const NAME = "small-1"

/**
 * Starts a model on this machine that begins to answer and never ends, and names it in the file of
 * upstreams that servers of `folder` read. Answers how to stop it.
 */
export const startModel = async (folder: string): Promise<() => Promise<void>> => {
  const choices = [{ index: 0, delta: { role: "assistant", content: "You may send" }, finish_reason: null }]
  const chunk = { id: "c1", object: "chat.completion.chunk", created: 0, model: NAME, choices }
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify(chunk)}\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(upstreamsFile(folder), JSON.stringify({ upstreams: [{ model: NAME, base_url: url, forms: ["chat"] }] }))
  return () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
}

/** How long the settlement may take, which follows the end of a halted answer. Unit: milliseconds. */
const SETTLE_MS = 20_000
const POLL_MS = 400

/** Lets the agent ask the model, halts it while the answer streams, and releases it. */
export const cut = async ({
  admin,
  agent,
  server
}: {
  readonly admin: string
  readonly agent: { readonly id: string; readonly name: string }
  readonly server: RunningServer
}): Promise<Cut> => {
  const call = async (method: string, path: string, token: string, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, path, token, body)
    if (status >= 300) throw new Error(`${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  const scopes = ["gateway:write", "usage:read"]
  const minted = await call("POST", "/api/v1/admin/platform-keys", admin, {
    name: "clerk",
    org_unit: "support",
    plan: "starter",
    scopes,
    agent_id: agent.id
  })
  const tokens = async (): Promise<number> => (await call("GET", "/v1/usage", minted.key)).tokens_used
  const openai = new OpenAI({ apiKey: minted.key, baseURL: `${server.address}/v1/gateway`, maxRetries: 0 })
  const request = {
    model: NAME,
    messages: [{ role: "user" as const, content: "May I send the lamp back?" }],
    max_tokens: 500
  }

  const unused = await tokens()
  const stream = await openai.chat.completions.create({ ...request, stream: true })
  let [before, after] = ["", ""]
  let [reserved, activation] = [0, ""]
  let finish: string | null = null
  for await (const { choices } of stream) {
    after += choices[0]?.delta.content ?? ""
    finish = choices[0]?.finish_reason ?? finish
    if (activation !== "" || after === "") continue
    before = after
    reserved = (await tokens()) - unused
    const target = { target_type: "agent", target_id: agent.id, reason: "A person stops it." }
    activation = (await call("POST", "/api/v1/bound/kill/activate", admin, target)).activation_event
  }
  const refused = await openai.chat.completions.create(request).then(
    () => "answered",
    (error: unknown) => (error instanceof OpenAI.APIError ? `${error.status} ${error.code}` : String(error))
  )
  await call("POST", "/api/v1/bound/kill/release", admin, { activation_event: activation, reason: "All is well." })
  let settled = (await tokens()) - unused
  for (let waited = 0; settled === reserved && waited < SETTLE_MS; waited += POLL_MS) {
    await pause(POLL_MS)
    settled = (await tokens()) - unused
  }
  const records = await call(
    "GET",
    `/api/v1/chain/records?kind=decision.witnessed&agent_id=${agent.id}&limit=1000`,
    admin
  )
  const { capture, status } = records.find(({ body }: any) => body.action === NAME).body
  return {
    agent: agent.name,
    before,
    after,
    finish,
    reserved,
    settled,
    recorded: `${capture}, ${status}`,
    refused
  }
}

/** Its lines of the page. */
export const cutLines = ({
  after,
  agent,
  before,
  finish,
  recorded,
  refused,
  reserved,
  settled
}: Cut): ReadonlyArray<string> => [
  `Then ${agent} called a model, by the official openai package with another base URL. "${before.trim()}" had come, ` +
    `and ${reserved} tokens were reserved, when a person halted it:`,
  `  the client got ${after === before ? "nothing more" : `"${after}"`}, and the answer ended as ${finish}. ` +
    `${settled} tokens were settled, and the record says ${recorded}. Its next request: ${refused}.`
]
