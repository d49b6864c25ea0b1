import { generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool, type ToolSet } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { afterEach, assert, describe, it } from "vitest"
import { manualClock } from "../../testing/manual-clock.ts"
import { governedAgent } from "../testing/governed-agent.ts"
import { governTools, ToolNotGoverned } from "./index.ts"

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** An agent whose refunds above 100 are denied. */
const world = async (options: Parameters<typeof governedAgent>[0] = {}) => {
  const governed = await governedAgent(options)
  endings.push(() => governed.client.close())
  governed.script.verdict = ({ signals }) => (Number(signals["amount"]) > 100 ? "deny" : "allow")
  return governed
}

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 }
}

type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never

/** A model that calls one tool, and says "done" once it was shown the result. */
const modelOf = (toolName: string, input: object): MockLanguageModelV4 => {
  const call = { type: "tool-call" as const, toolCallId: "c", toolName, input: JSON.stringify(input) }
  const text = [
    { type: "text-start" as const, id: "t" },
    { type: "text-delta" as const, id: "t", delta: "done" },
    { type: "text-end" as const, id: "t" }
  ]
  const isShown = (prompt: ReadonlyArray<{ readonly role: string }>) => prompt.some(({ role }) => role === "tool")
  const reason = (unified: "stop" | "tool-calls") => ({ unified, raw: unified })
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) =>
      isShown(prompt)
        ? { content: [{ type: "text", text: "done" }], finishReason: reason("stop"), usage, warnings: [] }
        : { content: [call], finishReason: reason("tool-calls"), usage, warnings: [] },
    doStream: async ({ prompt }) => ({
      stream: simulateReadableStream<Part>({
        chunks: isShown(prompt)
          ? [...text, { type: "finish" as const, finishReason: reason("stop"), usage }]
          : [call, { type: "finish" as const, finishReason: reason("tool-calls"), usage }]
      })
    })
  })
}

const inputSchema = jsonSchema<{ amount?: number }>({
  type: "object",
  properties: { amount: { type: "integer" } }
})

/** Runs a governed tool by itself, as the SDK calls it. */
const execute = (tools: ToolSet, name: string, input: unknown, abortSignal?: AbortSignal): unknown =>
  (tools[name]!.execute as (input: unknown, options: object) => unknown)(input, {
    toolCallId: "c",
    messages: [],
    abortSignal
  })

describe("governed tools", () => {
  it("take no tool that is put in later, and no other execute", async () => {
    const { agent } = await world()
    const refund = tool({ inputSchema, execute: async () => "refunded" })
    const tools = governTools({ refund }, agent) as ToolSet
    assert.throws(() => void (tools["other"] = refund), TypeError)
    assert.throws(() => void (tools["refund"] = refund), TypeError)
    assert.throws(() => void (tools["refund"]!.execute = refund.execute), TypeError)
  })
})

describe("a tool that yields its outputs", () => {
  const counting = (deeds: Array<string>) =>
    tool({
      inputSchema,
      execute: async function* ({ amount = 0 }) {
        deeds.push("began")
        try {
          for (let n = 1; n <= amount; n++) yield `${n}`
          if (amount === 3) throw new Error("no more")
        } finally {
          deeds.push("ended")
        }
      }
    })

  it("is passed on output by output, and witnessed with the last one", async () => {
    const { agent, witnessed } = await world()
    const deeds: Array<string> = []
    const tools = governTools({ count: counting(deeds) }, agent)
    const outputs: Array<string> = []
    const { stream } = streamText({
      model: modelOf("count", { amount: 2 }),
      tools,
      prompt: "go",
      stopWhen: stepCountIs(3)
    })
    for await (const part of stream)
      if (part.type === "tool-result") outputs.push(`${String(part.output)}${part.preliminary === true ? "…" : ""}`)
    assert.deepStrictEqual(outputs, ["1…", "2…", "2"])
    const [decision] = await witnessed()
    assert.deepInclude(decision, { action: "count", status: "ok", result: "2" })
  })

  it("is never begun where it is denied", async () => {
    const { agent } = await world()
    const deeds: Array<string> = []
    const tools = governTools({ count: counting(deeds) }, agent)
    const { steps } = await generateText({ model: modelOf("count", { amount: 900 }), tools, prompt: "go" })
    assert.match(JSON.stringify(steps.at(-1)!.response.messages), /did not run: deny/)
    assert.lengthOf(deeds, 0)
  })

  it("fails after its outputs where the tool does", async () => {
    const { agent, witnessed } = await world()
    const tools = governTools({ count: counting([]) }, agent)
    const outputs: Array<unknown> = []
    let failure = ""
    try {
      for await (const output of execute(tools, "count", { amount: 3 }) as AsyncIterable<unknown>) outputs.push(output)
    } catch (cause) {
      failure = String(cause)
    }
    assert.deepStrictEqual(outputs, ["1", "2", "3"])
    assert.match(failure, /no more/)
    assert.deepInclude((await witnessed())[0], { status: "error" })
  })

  it("ends when the caller stops reading its outputs", async () => {
    const { agent, witnessed } = await world()
    const deeds: Array<string> = []
    const tools = governTools({ count: counting(deeds) }, agent)
    for await (const output of execute(tools, "count", { amount: 100 }) as AsyncIterable<unknown>)
      if (output === "2") break
    while (deeds.length < 2) await new Promise<void>((resolve) => setImmediate(resolve))
    assert.deepStrictEqual(deeds, ["began", "ended"])
    while ((await witnessed()).length === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    assert.deepInclude((await witnessed())[0], { action: "count", status: "error" })
  })

  it("runs to its end when it is not an async generator function", async () => {
    const { agent } = await world()
    const inner = counting([]).execute as unknown as (input: object) => AsyncIterable<string>
    const tools = governTools({ count: tool({ inputSchema, execute: (input): unknown => inner(input) }) }, agent)
    assert.strictEqual(await execute(tools, "count", { amount: 2 }), "2")
  })
})

describe("the gate", () => {
  it("holds where the call switches telemetry off and has no approval", async () => {
    const { agent } = await world()
    let ran = 0
    const tools = governTools({ refund: tool({ inputSchema, execute: () => ++ran }) }, agent)
    const model = modelOf("refund", { amount: 900 })
    const toolApproval = () => undefined
    await generateText({ model, tools, prompt: "go", toolApproval, telemetry: { isEnabled: false } })
    assert.strictEqual(ran, 0)
  })

  it("judges a copy: what a tool does to its input is not what was witnessed", async () => {
    const { agent, witnessed } = await world()
    const input = { amount: 5, note: undefined }
    const change = (given: { amount?: number }): string => {
      given.amount = 900
      return "changed"
    }
    await execute(governTools({ refund: tool({ inputSchema, execute: change }) }, agent), "refund", input)
    assert.strictEqual(input.amount, 5)
    assert.deepStrictEqual((await witnessed())[0].args, { amount: 5 })
  })

  it("refuses an input that is no JSON, and records the denial", async () => {
    const { agent, witnessed } = await world()
    let ran = 0
    const tools = governTools({ refund: tool({ inputSchema, execute: () => ++ran }) }, agent)
    for (const amount of [new Date(0), new Map(), () => 5, Number.NaN, 5n]) {
      const failure = await (execute(tools, "refund", { amount }) as Promise<unknown>).then(String, String)
      assert.match(failure, /@fail_closed:guard\..* JSON/)
    }
    assert.strictEqual(ran, 0)
    assert.deepStrictEqual(
      (await witnessed()).map(({ args, status }) => [status, args.withheld ?? args]),
      [
        ["denied", { amount: "1970-01-01T00:00:00.000Z" }],
        ["denied", "no_json"],
        ["denied", {}],
        ["denied", "no_json"],
        ["denied", { amount: "5" }]
      ]
    )
  })

  it("refuses tools that run somewhere else, unless they are named", async () => {
    const { agent } = await world()
    const elsewhere = {
      search: { type: "provider", id: "x.search", isProviderExecuted: true, args: {}, inputSchema } as never,
      ask: tool({ inputSchema, outputSchema: jsonSchema<string>({ type: "string" }) })
    }
    assert.throws(() => governTools({ search: elsewhere.search }, agent), ToolNotGoverned, /provider/)
    assert.throws(() => governTools({ ask: elsewhere.ask }, agent), ToolNotGoverned, /no execute/)
    assert.deepStrictEqual(governTools(elsewhere, agent, { ungoverned: ["search", "ask"] }), elsewhere)
  })

  it("allows a read, and no other call, under a status that is 20 s old; each names its run", async () => {
    const clock = manualClock()
    const { agent, client, seen, script } = await world({ clock })
    const run = () => "ran"
    const tools = governTools(
      { lookup: tool({ inputSchema, execute: run }), refund: tool({ inputSchema, execute: run }) },
      agent,
      { readOnly: ["lookup"], runId: "run-1" }
    )
    script.isAway = true
    await clock.advance(20_000)
    const failures = ["lookup", "refund"].map((name) =>
      (execute(tools, name, {}) as Promise<unknown>).then(String, String)
    )
    await clock.advance(10_000)
    assert.match((await failures[0])!, /@fail_closed:unreachable/)
    assert.match((await failures[1])!, /@stale_status/)
    const runs = seen.flatMap(({ json, path }) => (path.endsWith("/evaluations") ? [json.run_id] : []))
    assert.isNotEmpty(runs)
    assert.isTrue(runs.every((run) => run === "run-1"))
    script.isAway = false
    const closing = client.close()
    await clock.advance(10_000)
    await closing
  })
})
