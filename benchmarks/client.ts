/** Measures the cost that `guard` adds to a tool call: in this process alone, and with a server over loopback HTTP. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type AgentClient, type Client, openClient } from "@flyball/client"
import { governTools } from "@flyball/client/ai-sdk"
import { generateText, jsonSchema, stepCountIs, tool, type ToolSet } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { prepareReadme, readmeAgent, type Sender } from "../property-tests/src/client/readme-program.ts"
import { startServer } from "../scripts/demo/server.ts"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"

const ROUNDS = 7

/** Calls a round. Over HTTP each is an evaluation that the server has synced to its disk. */
const CALLS = { "in process": 200, "over loopback HTTP": 40 } as const

type Way = keyof typeof CALLS

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "client",
  about:
    `a tool call guarded and bare, in turn, ${ROUNDS} rounds: an async function by itself, and one call in a run of ` +
    "the AI SDK with its mock model. In process: every answer of the server comes from this process at once",
  run: async () => {
    const lines: Array<Line> = []
    const answering = openClient({ url: "http://flyball.test", key: "k", fetch: answers })
    lines.push(...(await measured("in process", answering, await answering.register({ name: readmeAgent }))))
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    mkdirSync(join(folder, "trust"), { mode: 0o700 })
    const server = await startServer(folder)
    try {
      const senderOf = async (sub: string): Promise<Sender> => {
        const token = (await server.flyball("token", "--role", "admin", "--sub", sub)).stdout.trim()
        return async (method, path, json) => (await server.call(method, `/api/v1${path}`, token, json)).json
      }
      const admin = await senderOf("ann")
      await prepareReadme(admin, await senderOf("ben"))
      const { key } = await admin("POST", "/admin/ingest-keys", { name: "bench", org_unit: "claims" })
      const served = openClient({ url: server.address, key: String(key) })
      lines.push(...(await measured("over loopback HTTP", served, await served.register({ name: readmeAgent }))))
    } finally {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    return lines
  }
}

const args = { cents: 2_500 }

/** The tool's work: as little as an asynchronous function can do. */
const refund = async (): Promise<string> => "refunded"

const bareTools: ToolSet = {
  refund: tool({
    inputSchema: jsonSchema<typeof args>({ type: "object", properties: { cents: { type: "integer" } } }),
    execute: refund
  })
}

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>

/** A model that calls the tool once, and then says "done". */
const modelOf = (): MockLanguageModelV4 => {
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 }
  }
  const call = { type: "tool-call", toolCallId: "1", toolName: "refund", input: JSON.stringify(args) } as const
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<Generated> =>
      prompt.some(({ role }) => role === "tool")
        ? {
            content: [{ type: "text", text: "done" }],
            finishReason: { unified: "stop", raw: "stop" },
            usage,
            warnings: []
          }
        : { content: [call], finishReason: { unified: "tool-calls", raw: "tool-calls" }, usage, warnings: [] }
  })
}

const measured = async (way: Way, client: Client, agent: AgentClient): Promise<ReadonlyArray<Line>> => {
  const count = CALLS[way]
  await agent.kill.refresh()
  if ((await agent.guard("refund", args, refund)) !== "refunded") throw new Error("the guarded call answered otherwise")
  const times = (call: () => Promise<unknown>) => async (): Promise<void> => {
    for (let index = 0; index < count; index++) await call()
    // Sending what was recorded is part of the price.
    if ((await client.flush()).pending > 0) throw new Error("decisions were not sent")
  }
  const governed = governTools(bareTools, agent)
  const turn = (tools: ToolSet) => async (): Promise<void> => {
    const model = modelOf()
    const { text } = await generateText({ model, tools, prompt: "refund", stopWhen: stepCountIs(3) })
    if (text !== "done") throw new Error(`the run ended with ${text}`)
  }
  const lines: Array<Line> = []
  for (const [name, bare, guarded] of [
    ["a call of guard", refund, () => agent.guard("refund", args, refund)],
    ["a run of the AI SDK with one tool call", turn(bareTools), turn(governed)]
  ] as const) {
    const { limitMs, ratio, subjectMs } = await alternate(ROUNDS, times(bare), times(guarded))
    lines.push({
      name: `client: ${name}, ${way}`,
      value: figure((subjectMs / count) * 1_000),
      unit: "us",
      limit: figure((limitMs / count) * 1_000),
      ratio: figure(1 / ratio),
      goal: "none: how many times the bare call",
      met: true
    })
  }
  await client.close()
  return lines
}

/** A server that allows everything and takes everything. */
const answers = (async (input, init) => {
  const path = new URL(String(input)).pathname
  const answer = (json: unknown, status = 200): Response => new Response(JSON.stringify(json), { status })
  if (path === "/api/v1/agents") return answer([{ id: "agt_1", name: readmeAgent }])
  if (path.endsWith("/kill/stream")) return answer({}, 503)
  if (path.endsWith("/kill/status"))
    return answer({
      target_type: "agent",
      target_id: "agt_1",
      halted: false,
      drill: false,
      activation_event: null,
      effective_response: null,
      epoch: 1,
      origin: "a/b"
    })
  const json = typeof init?.body === "string" ? JSON.parse(init.body) : null
  if (path.endsWith("/bound/evaluations"))
    return answer(
      {
        id: "evl_1",
        agent_id: json.agent_id,
        client_ref: json.client_ref,
        outcome: "allow",
        matched_rule: "all",
        valid_ms: 15_000,
        obligations: [],
        review_id: null,
        suggestion: null
      },
      201
    )
  const { decisions } = json as { readonly decisions: ReadonlyArray<{ client_ref: string }> }
  const receipts = decisions.map(({ client_ref }) => ({ client_ref, decision_id: "dec_1", duplicate: false }))
  return answer({ receipts }, 201)
}) as typeof globalThis.fetch
