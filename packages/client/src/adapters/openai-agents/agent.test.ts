import {
  Agent,
  handoff,
  type MCPServer,
  run,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  tool,
  webSearchTool
} from "@openai/agents"
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing"
import { afterEach, assert, describe, it } from "vitest"
import { z } from "zod"
import { governedAgent, until } from "../testing/governed-agent.ts"
import { governAgent, type OpenAiOptions, stopWhenHalted, ToolNotGoverned } from "./index.ts"

setTracingDisabled(true)
// What is traced is sent nowhere.
setTraceProcessors([])

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** An agent whose actions above 100 are denied and above 50 reviewed, and what its tools did. */
const world = async () => {
  const governed = await governedAgent()
  endings.push(() => governed.client.close())
  governed.script.verdict = ({ signals }) => {
    const amount = Number(signals["amount"])
    return amount > 100 ? "deny" : amount > 50 ? "require_review" : "allow"
  }
  const ran: Array<unknown> = []
  const refund = tool({
    name: "refund",
    description: "Refunds.",
    parameters: z.object({ amount: z.number() }),
    execute: async ({ amount }) => {
      ran.push(amount)
      return `refunded ${amount}`
    }
  })
  return { ...governed, client: governed.agent as never, ran, refund }
}

/** Answers with these outputs one after the other, then says "done" and keeps what it was shown. */
const modelOf = (...steps: ReadonlyArray<ReturnType<typeof functionCall>>) => {
  const shown: Array<string> = []
  const model = new ScriptedModel([
    ...steps.map((step) => [step]),
    modelResponder(({ request }) => {
      for (const item of request.input as ReadonlyArray<{ type: string; output: unknown }>)
        if (item.type === "function_call_result") shown.push(JSON.stringify(item.output))
      return [assistantMessage("done")]
    })
  ])
  return { model, shown }
}

const callOf = (name: string, args: string | { [name: string]: unknown }, callId = "c") =>
  functionCall(name, args, { callId })

describe("a governed agent", () => {
  it("leaves the original as it was", async () => {
    const { client, ran, refund } = await world()
    const { model, shown } = modelOf(callOf("refund", { amount: 900 }))
    const original = new Agent({ name: "bot", model, tools: [refund] })
    assert.notStrictEqual(governAgent(original, client), original)
    await run(original, "go")
    assert.deepStrictEqual(ran, [900])
    assert.match(shown[0]!, /refunded 900/)
  })

  it("takes no tool, server or agent that is put in later", async () => {
    const { client, refund } = await world()
    const other = new Agent({ name: "Other", tools: [refund] })
    const bot = governAgent(new Agent({ name: "bot", handoffs: [other] }), client)
    assert.throws(() => void bot.tools.push(refund), TypeError)
    assert.throws(() => void bot.mcpServers.push({} as MCPServer), TypeError)
    assert.throws(() => void bot.handoffs.push(other as never), TypeError)
    assert.throws(() => void (bot.handoffs[0] as typeof other).tools.push(refund), TypeError)
  })

  it("governs the agents that it hands over to, also in a circle and by a handoff object", async () => {
    for (const how of ["agent", "handoff"]) {
      const { client, ran, refund } = await world()
      const { model, shown } = modelOf(
        callOf("transfer_to_Refunds", {}, "1"),
        callOf("transfer_to_Front", {}, "2"),
        callOf("transfer_to_Refunds", {}, "3"),
        callOf("refund", { amount: 900 }, "4")
      )
      const refunds = new Agent({ name: "Refunds", model, tools: [refund] })
      const front = new Agent({ name: "Front", model, handoffs: [how === "agent" ? refunds : handoff(refunds)] })
      refunds.handoffs = [front]
      await run(governAgent(front, client), "go")
      assert.lengthOf(ran, 0)
      assert.match(shown.at(-1)!, /did not run: deny/)
    }
  })

  it("refuses tools that run somewhere else, unless they are named, and agents that make their own", async () => {
    const { client } = await world()
    const bot = new Agent({ name: "bot", tools: [webSearchTool()] })
    assert.throws(() => governAgent(bot, client), ToolNotGoverned, /web_search/)
    assert.strictEqual(governAgent(bot, client, { ungoverned: ["web_search"] }).tools[0], bot.tools[0])
    const sandbox = Object.assign(new Agent({ name: "sandbox" }), { capabilities: [] })
    assert.throws(() => governAgent(sandbox, client), ToolNotGoverned, /tools of its own/)
  })

  it("ends its run before the next model call when it is halted", async () => {
    const { agent, client, halt } = await world()
    const { model } = modelOf()
    await halt()
    const bot = governAgent(new Agent({ name: "bot", model }), client)
    const failure = await run(bot, "go", { callModelInputFilter: stopWhenHalted(agent as never) }).then(String, String)
    assert.match(failure, /halt by @killed/)
    assert.lengthOf(model.calls, 0)
  })
})

describe("a governed function tool", () => {
  /** Runs one call of a tool. */
  const called = async (
    given: ReturnType<typeof tool>,
    args: string | { [name: string]: unknown },
    client: never,
    options: OpenAiOptions = {}
  ) => {
    const { model, shown } = modelOf(callOf(given.name, args))
    const bot = governAgent(new Agent({ name: "bot", model, tools: [given] }), client, options)
    const failure = await run(bot, "go").then(
      () => null,
      (cause: unknown) => String(cause)
    )
    return { shown: shown[0], failure }
  }

  it("reads what was judged: a name that stands twice counts once", async () => {
    const { client, ran, refund, witnessed } = await world()
    await called(refund as never, '{"amount":900,"amount":5}', client)
    assert.deepStrictEqual(ran, [5])
    assert.deepStrictEqual((await witnessed())[0].args, { amount: 5 })
  })

  it("is not called with what is no JSON", async () => {
    const { client, ran, refund, witnessed } = await world()
    const { shown } = await called(refund as never, "{amount", client)
    assert.match(shown!, /An error occurred/)
    assert.lengthOf(ran, 0)
    assert.lengthOf(await witnessed(), 0)
  })

  const failing = (name: string, errorFunction?: null | (() => unknown)) =>
    tool({
      name,
      description: "Fails.",
      parameters: z.object({}),
      execute: async () => {
        throw new Error("no such order")
      },
      ...(errorFunction === undefined ? {} : { errorFunction: errorFunction as never })
    }) as never

  it("whose failure becomes an output is an error with what the model read, with tracing and without", async () => {
    const cases: ReadonlyArray<readonly [(() => unknown) | undefined, unknown]> = [
      [undefined, "An error occurred while running the tool. Please try again."],
      [() => "Sorry.", "Sorry."],
      [() => ({ sorry: true }), { sorry: true }]
    ]
    for (const [errorFunction, read] of cases)
      for (const how of ["disabled", "enabled", "disabled for the run"]) {
        const { client, witnessed } = await world()
        setTracingDisabled(how === "disabled")
        const { model, shown } = modelOf(callOf("fail", {}))
        const bot = governAgent(new Agent({ name: "bot", model, tools: [failing("fail", errorFunction)] }), client)
        await new Runner({ tracingDisabled: how === "disabled for the run" }).run(bot, "go")
        setTracingDisabled(true)
        assert.include(shown[0]!, typeof read === "string" ? read : "sorry", how)
        assert.deepInclude((await witnessed())[0], { status: "error", result: { error: read } }, how)
      }
  })

  it("that answers beside one that fails is no failure", async () => {
    const { client, witnessed } = await world()
    const answering = tool({
      name: "answer",
      description: "Answers after the other has failed.",
      parameters: z.object({}),
      execute: async () => {
        await until(() => hasFailed)
        return "answered"
      }
    })
    let hasFailed = false
    const fail = failing("fail", () => ((hasFailed = true), "Sorry."))
    const calls = [callOf("answer", {}, "1"), callOf("fail", {}, "2")]
    const model = new ScriptedModel([calls, [assistantMessage("done")]])
    await run(governAgent(new Agent({ name: "bot", model, tools: [answering as never, fail] }), client), "go")
    assert.sameMembers(
      (await witnessed()).map(({ action, status }) => `${action} ${status}`),
      ["answer ok", "fail error"]
    )
  })

  it("that answers a failure itself is an error where the host says so", async () => {
    const answering = tool({
      name: "answer",
      description: "Answers.",
      parameters: z.object({}),
      execute: () => "FAILED: no such order"
    })
    const isFailure = (_: string, output: unknown) => String(output).startsWith("FAILED")
    for (const [options, status] of [
      [{}, "ok"],
      [{ isFailure }, "error"]
    ] as const) {
      const { client, witnessed } = await world()
      await called(answering as never, {}, client, options)
      assert.deepInclude((await witnessed())[0], { status })
    }
  })

  it("that has an output schema ends the run with its refusal", async () => {
    const { client } = await world()
    let ran = 0
    const structured = tool({
      name: "refund",
      description: "Refunds.",
      parameters: z.object({ amount: z.number() }),
      outputSchema: z.object({ refunded: z.number() }),
      execute: async ({ amount }) => {
        ran++
        return { refunded: amount }
      }
    })
    const { failure } = await called(structured as never, { amount: 900 }, client)
    assert.match(failure!, /did not run: deny/)
    assert.strictEqual(ran, 0)
  })

  it("never runs when its time ends while it is held", async () => {
    const { client, ran, resolve, script, waits } = await world()
    const slow = tool({
      name: "refund",
      description: "Refunds.",
      parameters: z.object({ amount: z.number() }),
      timeoutMs: 5,
      execute: async ({ amount }) => void ran.push(amount)
    })
    const { shown } = await called(slow as never, { amount: 60 }, client)
    assert.match(shown!, /timed out/)
    await until(() => waits() === 0)
    resolve("rev_1", "approve")
    script.verdict = () => "allow"
    await called(
      tool({ name: "other", description: "-", parameters: z.object({}), execute: () => "ran" }) as never,
      {},
      client
    )
    assert.lengthOf(ran, 0)
  })
})

describe("a governed MCP server", () => {
  const serverOf = (ran: Array<unknown>): MCPServer =>
    ({
      name: "shop",
      cacheToolsList: false,
      connect: async () => undefined,
      close: async () => undefined,
      invalidateToolsCache: async () => undefined,
      listTools: async () => [
        {
          name: "refund",
          inputSchema: { type: "object", properties: { amount: { type: "number" } }, additionalProperties: false }
        }
      ],
      callTool: async (_: string, args: { amount: number }) => {
        ran.push(args.amount)
        return [{ type: "text", text: `refunded ${args.amount}` }]
      },
      callToolResult: async (_: string, args: { amount: number }) => {
        ran.push(args.amount)
        return { content: [{ type: "text", text: "no such order" }], isError: true }
      }
    }) as never

  it("runs what is allowed, under its own name, and answers the rest with the reason", async () => {
    const { client, ran, witnessed } = await world()
    const { model, shown } = modelOf(callOf("refund", { amount: 5 }, "1"), callOf("refund", { amount: 900 }, "2"))
    const bot = new Agent({ name: "bot", model, mcpServers: [serverOf(ran)] })
    await run(governAgent(bot, client), "go")
    assert.deepStrictEqual(ran, [5])
    assert.match(shown[0]!, /refunded 5/)
    assert.match(shown[1]!, /did not run: deny/)
    const decisions = await witnessed()
    assert.deepStrictEqual(
      decisions.map(({ status, tool_server }) => `${tool_server} ${status}`),
      ["shop ok", "shop denied"]
    )
  })

  it("is witnessed as an error where it says that the tool failed", async () => {
    const { client, ran, witnessed } = await world()
    const { model, shown } = modelOf(callOf("refund", { amount: 5 }))
    const server = Object.assign(serverOf(ran), { useStructuredContent: true })
    await run(governAgent(new Agent({ name: "bot", model, mcpServers: [server] }), client), "go")
    assert.match(shown[0]!, /no such order/)
    assert.deepInclude((await witnessed())[0], { status: "error", tool_server: "shop" })
  })
})
